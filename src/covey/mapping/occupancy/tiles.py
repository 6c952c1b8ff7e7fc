"""Tiles of evidence and their sums, held by reference.

A *slot* holds one version of one robot's evidence in one tile. The robot writes it until it is published; after that
it never changes. A *node* holds a set of versions of one tile, at most one per robot, and their sum; it never changes
either. Beliefs refer to nodes. Two beliefs that hold the same versions of a tile refer to the same node. Slot 0 and
node 0 are empty.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.exchange.merge_rules import FILL, PLAIN, MergeRule

TILE = 32
"""Side of a tile [cells]."""
TILE_CELLS = TILE * TILE

MOST_ROBOTS = 32767
"""Largest number of robots that can share beliefs: sums have 32 bits, and a `MapUpdate` identifies robots by 16."""


class Store(NamedTuple):
    """The slots and nodes of a team.

    Attributes:
        evidence: int8 (slots, 1024), in units of `EVIDENCE_STEP`; 0 = never seen.
        version: int32 (slots,), number of the robot's publication that contained the slot; 0 = not published yet.
        size: int32 (slots,), encoded size of the published slot [bytes]; 0 = not known yet.
        seen: uint16 (pages, 1024), time stamps at which one robot last saw the cells; 0 = never.
        joined: int16 or int32 (nodes, 1024), sum of the versions of a node; see `empty_store`.
        parts: int32 (nodes, n), the slot of each robot's version; 0 = none.
        table: int32 (a power of two,), hash table of the nodes; the keys are their parts.
        free_slots, free_nodes: int32, indices of free slots and nodes; they are used in this order.
        used: int64 (3,), number of entries of ``free_slots`` and ``free_nodes``, and of pages, in use.
    """

    evidence: np.ndarray
    version: np.ndarray
    size: np.ndarray
    seen: np.ndarray
    joined: np.ndarray
    parts: np.ndarray
    table: np.ndarray
    free_slots: np.ndarray
    free_nodes: np.ndarray
    used: np.ndarray


class TeamTiles(NamedTuple):
    """The data of each robot of a team; n robots, tiles in storage order.

    Attributes:
        own: int32 (n, tiles), the slot of a robot's own evidence; ``published``: the slot of its newest publication.
        page: int32 (n, tiles), the page of the time stamps at which it saw the cells.
        node: int32 (n, tiles), the node of the versions that it holds. Its own newest publication is included as soon
            as another belief holds the same versions.
        clock: int64 (n, n), row i: the newest publication of each robot that i holds completely, with all before it.
        occupancy: int8 (n, rows, columns), the map: -1 unknown, 0 free, 100 occupied.
        changed: int64 (n, tiles), the version of the belief at which the state of a cell last changed.
        version: int64 (n,), increases when the state of a cell changes.
        mapped_pose: float64 (n, 3), pose x, y [m], heading [rad] of the last scan that was used.
    """

    own: np.ndarray
    published: np.ndarray
    page: np.ndarray
    node: np.ndarray
    clock: np.ndarray
    occupancy: np.ndarray
    changed: np.ndarray
    version: np.ndarray
    mapped_pose: np.ndarray


def empty_store(robots: int, rule: MergeRule, largest: int) -> Store:
    """Return a store with only the empty slot, page and node.

    Args:
        robots: number of robots.
        rule: rule by which their evidence is combined.
        largest: largest evidence of one robot in a cell, in units. If the sum of all robots fits into 16 bits, sums
            have 16 bits, which halves the memory; else 32.
    """
    part = int(np.abs(rule.parts(np.arange(-largest, largest + 1)).astype(np.int64)).max())
    sum_of_all = part if rule.fills else robots * part
    fits = sum_of_all <= np.iinfo(np.int16).max
    return Store(
        np.zeros((1, TILE_CELLS), np.int8),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        np.zeros((1, TILE_CELLS), np.uint16),
        np.zeros((1, TILE_CELLS), np.int16 if fits else np.int32),
        np.zeros((1, robots), np.int32),
        np.zeros(2, np.int32),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
        np.array([0, 0, 1]),
    )


def with_room(store: Store, team: TeamTiles, held: Iterable[np.ndarray], slots: int, nodes: int, pages: int) -> Store:
    """Return a store with enough free slots, nodes and pages; those without references become free.

    Args:
        store: the old store; do not use its arrays afterwards.
        team: the team, which refers to slots and nodes.
        held: other slots with references, int arrays.
        slots, nodes, pages: numbers of free slots, nodes and pages that are needed.
    """
    used_node, used_slot = np.zeros(len(store.parts), np.bool_), np.zeros(len(store.version), np.bool_)
    used_node[team.node.ravel()] = used_node[0] = True
    used_slot[store.parts[used_node].ravel()] = used_slot[0] = True
    for some in (team.own.ravel(), team.published.ravel(), *held):
        used_slot[some] = True
    slot_count, node_count = (
        _length(len(used), int(used.sum()), need) for used, need in ((used_slot, slots), (used_node, nodes))
    )
    pages_used = int(store.used[2])
    page_count = _length(len(store.seen), pages_used, pages)
    parts, table = _resized(store.parts, node_count), np.zeros(1 << (2 * node_count).bit_length(), np.int32)
    index_nodes(table, parts, np.flatnonzero(used_node[1:]) + 1)
    return Store(
        _resized(store.evidence, slot_count),
        _resized(store.version, slot_count),
        _resized(store.size, slot_count),
        _resized(store.seen, page_count),
        _resized(store.joined, node_count),
        parts,
        table,
        np.flatnonzero(~_resized(used_slot, slot_count)).astype(np.int32),
        np.flatnonzero(~_resized(used_node, node_count)).astype(np.int32),
        np.array([0, 0, pages_used]),
    )


def _length(now: int, used: int, needed: int) -> int:
    """Return the new length of an array with at least ``needed`` free entries; it grows in large steps.

    Entries that are not used yet take no memory. What is needed is the most that one scan or one update can take; with
    room for several, the next ones need not look for free entries again.
    """
    return now if now - used >= max(needed, used // 4) else used + max(4 * needed, used // 2)


def _resized(array: np.ndarray, length: int) -> np.ndarray:
    """Return a copy of an array with another length; new entries take no memory until they are written."""
    if len(array) == length:
        return array
    out = (np.zeros if array.dtype == np.bool_ else np.empty)((length, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


@kernel
def _place(table, parts):
    """Return the first place to search for a set of versions in the table of nodes."""
    key = np.uint64(0)
    for o in range(parts.size):
        if parts[o] != 0:
            part = (np.uint64(parts[o]) << np.uint64(16)) + np.uint64(o)
            part = (part ^ (part >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            key += (part ^ (part >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((key ^ (key >> np.uint64(31))) & np.uint64(table.size - 1))


@kernel
def index_nodes(table, parts, nodes):
    """Add nodes to an empty table."""
    for node in nodes:
        at = _place(table, parts[node])
        while table[at] != 0:
            at = (at + 1) & (table.size - 1)
        table[at] = node


@kernel
def find_node(parts, store):
    """Return the node of a set of versions, or 0 if there is none, and its place in the table.

    Args:
        parts: int32 (n,), the slot of each robot's version.
    """
    at = _place(store.table, parts)
    while store.table[at] != 0:
        node, same = store.table[at], True
        for o in range(parts.size):
            if store.parts[node, o] != parts[o]:
                same = False
                break
        if same:
            return node, at
        at = (at + 1) & (store.table.size - 1)
    return 0, at


@kernel
def make_node(parts, at, base, store, rule):
    """Return a new node of a set of versions, computed from the node ``base`` of the same tile.

    Args:
        parts: int32 (n,), the slot of each robot's version.
        at: place of the node in the table.
        rule: see `MergeRule.table`.
    """
    node = store.free_nodes[store.used[1]]
    store.used[1] += 1
    store.table[at] = node
    joined = store.joined[node]
    for k in range(joined.size):
        joined[k] = 0 if rule[0] == FILL else store.joined[base, k]
    for o in range(parts.size):
        new, old = parts[o], store.parts[base, o]
        store.parts[node, o] = new
        if rule[0] == FILL:
            if new != 0:
                _fill(joined, store.evidence[new], rule)
        elif new != old:
            _replace(joined, store.evidence[new], store.evidence[old], rule)
    return node


@kernel
def _fill(joined, evidence, rule):
    """Copy the parts of a robot to the cells that have none yet."""
    for k in range(joined.size):
        joined[k] = added(evidence[k], rule) if joined[k] == 0 else joined[k]


@kernel
def _replace(joined, new, old, rule):
    """Replace an older version of a robot by a new one in the sum of a node."""
    if rule[0] == PLAIN:
        for k in range(joined.size):
            joined[k] += np.int16(new[k]) - np.int16(old[k])
    else:
        for k in range(joined.size):
            joined[k] += added(new[k], rule) - added(old[k], rule)


@kernel
def added(evidence, rule):
    """Return the contribution of one robot's evidence in one cell to the sum of a node."""
    return rule[130 + np.int64(evidence)]


@kernel
def state_of(own, published, joined, rule):
    """Return the state of one cell: -1 unknown, 0 free, 100 occupied.

    Args:
        own: the robot's own evidence; ``published``: the version of it that is in the node.
        joined: the sum of the node.
        rule: see `MergeRule.table`.
    """
    if rule[0] == FILL:
        total = np.int64(joined) if own == 0 else added(own, rule)
    else:
        total = joined - added(published, rule) + added(own, rule)
    return 100 if total >= rule[1] else (0 if total != 0 else -1)


@kernel
def show(own, published, joined, before, occupancy, top, left, rule):
    """Write the states of one tile into a map; return whether any changed.

    Args:
        own, published: int8 (1024,); joined: int16 or int32 (1024,), see `state_of`.
        before: an earlier ``joined``; rows in which the signs are equal are skipped. Empty: no row is skipped.
        occupancy: int8 (rows, columns); the tile starts at row ``top``, column ``left``.
        rule: see `MergeRule.table`.
    """
    turned, sized, plain = 0, joined.dtype.type, rule[0] == PLAIN  # the narrowest type, for the vector unit
    for i in range(TILE):
        at = slice(i * TILE, i * TILE + TILE)
        a, b, c = own[at], published[at], joined[at]
        if before.size != 0:
            d, other = before[at], 0
            for k in range(TILE):
                other |= ((c[k] > 0) ^ (d[k] > 0)) | ((c[k] < 0) ^ (d[k] < 0))
            if other == 0:
                continue
        row = occupancy[top + i, left : left + TILE]
        if plain:
            for k in range(TILE):
                total = sized(c[k] - sized(b[k]) + sized(a[k]))
                now = np.int8(100 if total > 0 else (0 if total < 0 else -1))
                turned |= now ^ row[k]
                row[k] = now
        else:
            for k in range(TILE):
                now = np.int8(state_of(a[k], b[k], c[k], rule))
                turned |= now ^ row[k]
                row[k] = now
    return turned != 0


@kernel
def publish(robots, own, published, version, clock):
    """Publish the changed own tiles of some robots; return the number of tiles.

    Args:
        robots: int64 (m,), indices of the robots.
        own, published, clock: arrays of the `TeamTiles`.
        version: array of the `Store`.
    """
    count = 0
    for robot in robots:
        before = count
        for tile in range(own.shape[1]):
            slot = own[robot, tile]
            if slot != published[robot, tile]:
                count += 1
                version[slot] = clock[robot, robot] + 1
                published[robot, tile] = slot
        if count > before:
            clock[robot, robot] += 1
    return count


@kernel
def gather(giver, wanted, since, team, store):
    """Return the evidence of some robots that ``giver`` holds and that is newer than given publications.

    Args:
        wanted: int64 (k,), the robots whose evidence is wanted.
        since: int64 (n,), the publication of each robot after which evidence is wanted.

    Returns:
        int32 (m, 3): tile, robot whose evidence it is, slot.
    """
    tiles = team.node.shape[1]
    out = np.empty((tiles * wanted.size, 3), np.int32)
    count = 0
    for tile in range(tiles):
        node = team.node[giver, tile]
        for o in wanted:
            slot = team.published[giver, tile] if o == giver else store.parts[node, o]
            if store.version[slot] > since[o]:
                out[count, 0], out[count, 1], out[count, 2] = tile, o, slot
                count += 1
    return out[:count].copy()


@kernel
def merge_updates(received, items, bounds, since, until, team, store, first, taken, rule):
    """Add the evidence that each robot received to its belief, starting at robot ``first``.

    Args:
        received: bool (n, m), the parcels that each robot received.
        items: int32 (k, 3), the items of all parcels, see `gather`; parcel p has the rows from bounds[p] to
            bounds[p + 1].
        since, until: int64 (m, n); a parcel has the evidence of each robot after its publication ``since``, up to
            ``until``.
        taken: int64 (n,), output: number of tiles that each robot took.

    Returns:
        The first robot that was not processed because there may be too few free nodes; n if all were.
    """
    n, tiles = team.node.shape
    per_row = team.occupancy.shape[2] // TILE
    parts, is_new, new_tiles = np.empty((tiles, n), np.int32), np.zeros(tiles, np.bool_), np.empty(tiles, np.int64)
    for robot in range(first, n):
        taken[robot] = 0
        if store.free_nodes.size - store.used[1] < tiles:
            return robot
        count = 0
        for p in range(received.shape[1]):
            if not received[robot, p]:
                continue
            for i in range(bounds[p], bounds[p + 1]):
                tile, origin, slot = items[i, 0], items[i, 1], items[i, 2]
                held = parts[tile, origin] if is_new[tile] else store.parts[team.node[robot, tile], origin]
                if origin == robot or store.version[slot] <= store.version[held]:
                    continue
                if not is_new[tile]:
                    is_new[tile], new_tiles[count] = True, tile
                    count += 1
                    for o in range(n):
                        parts[tile, o] = store.parts[team.node[robot, tile], o]
                    parts[tile, robot] = team.published[robot, tile]
                parts[tile, origin] = slot
                taken[robot] += 1
            for o in range(n):
                if since[p, o] <= team.clock[robot, o]:
                    team.clock[robot, o] = max(team.clock[robot, o], until[p, o])
        turned = False
        for i in range(count):
            tile = new_tiles[i]
            is_new[tile] = False
            last, mine, known = team.node[robot, tile], team.own[robot, tile], team.published[robot, tile]
            node, at = find_node(parts[tile], store)
            if node == 0:
                node = make_node(parts[tile], at, last, store, rule)
            team.node[robot, tile] = node
            same = rule[0] == PLAIN and mine == known and mine == store.parts[last, robot]
            before = store.joined[last] if same else store.joined[last, :0]
            top, left = tile // per_row * TILE, tile % per_row * TILE
            own, published, joined = store.evidence[mine], store.evidence[known], store.joined[node]
            if show(own, published, joined, before, team.occupancy[robot], top, left, rule):
                team.changed[robot, tile] = team.version[robot] + 1
                turned = True
        team.version[robot] += turned
        for tile in range(tiles):
            last, mine = team.node[robot, tile], team.published[robot, tile]
            if store.parts[last, robot] != mine:  # others may already hold this robot's newest publication
                for o in range(n):
                    parts[tile, o] = store.parts[last, o]
                parts[tile, robot] = mine
                node, _ = find_node(parts[tile], store)
                team.node[robot, tile] = node if node != 0 else last
    return n
