"""Pictures and films that the page saves."""

import base64
import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from tests.viewer.browser.conftest import until
from tests.viewer.browser.test_replay import drawn, replay  # noqa: F401

import covey

SVG = "{http://www.w3.org/2000/svg}"


def saved(page, item):
    page.get_by_role("button", name="Save a picture or a film").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=item).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_a_picture_has_the_pixels_of_the_scene(replay):  # noqa: F811
    replay.evaluate("covey.player.seek(40)")
    drawn(replay)
    name, data = saved(replay, "Picture (PNG)")
    assert name.endswith("-4.0s.png")
    image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    width, height = replay.evaluate("[covey.view.canvas.width, covey.view.canvas.height]")
    assert image.shape[:2] == (height & ~1, width & ~1)
    inside = replay.evaluate("covey.view.pixel(-10.05, 0)")  # the wall around the maze
    assert image[round(inside[1]), round(inside[0])].tolist() == [0x2B, 0x34, 0x40]


def test_a_drawing_has_robots_as_lines_where_they_are(replay, recorded):  # noqa: F811
    run, seen = recorded
    replay.get_by_role("checkbox", name="Paths and goals").uncheck()  # goals are circles, too
    replay.evaluate("covey.player.seek(40)")
    drawn(replay)
    name, data = saved(replay, "Drawing (SVG)")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(data)
    assert root.find(f"{SVG}image").get("href").startswith("data:image/png;base64,")
    assert {text.text for text in root.iter(f"{SVG}text")} >= {"0", "1", "2"}
    circles = [path.get("d") for path in root.iter(f"{SVG}path") if "a" in path.get("d") and path.get("fill") != "none"]
    for x, y, _ in seen[40]["pose"]:
        px, py = replay.evaluate("([x, y]) => covey.view.pixel(x, y)", [x, y])
        starts = [tuple(map(float, d[1:].split("a")[0].split())) for d in circles]
        radii = [float(d.split("a")[1].split()[0]) for d in circles]
        assert any(abs(cx + r - px) < 0.1 and abs(cy - py) < 0.1 for (cx, cy), r in zip(starts, radii, strict=True))
    assert len(run.names) == len(circles)


def test_the_world_is_saved_as_a_map_that_covey_reads(replay, recorded, tmp_path):  # noqa: F811
    replay.evaluate("covey.player.seek(40)")
    drawn(replay)
    found = []
    replay.on("download", lambda one: found.append(one))
    replay.get_by_role("button", name="Save a picture or a film").click()
    replay.get_by_role("button", name="World as a map (YAML and PGM)").click()
    until(lambda: len(found) == 2, page=replay)
    for one in found:
        one.save_as(tmp_path / one.suggested_filename)
    (path,) = tmp_path.glob("*.yaml")
    world = covey.World.from_file(path)
    np.testing.assert_array_equal(world.grid.cells, recorded[0].maps.truth_at(40).cells)
    assert world.grid.origin == recorded[0].maps.truth.origin


@pytest.mark.parametrize(
    ("kind", "at", "mark"),
    [("WebM", 0, bytes.fromhex("1a45dfa3")), ("MP4", 4, b"ftyp")],  # EBML, the container of WebM; ISO base media
)
def test_a_film_plays_and_shows_the_scene(replay, kind, at, mark):  # noqa: F811
    menu = replay.get_by_role("button", name="Save a picture or a film")
    menu.click()
    assert replay.get_by_text("covey plot RUN animation film").is_visible()
    if not replay.evaluate(f"MediaRecorder.isTypeSupported('video/{kind.lower()}')"):
        assert replay.get_by_role("button", name=f"Film ({kind}): begin").count() == 0
        pytest.skip(f"this browser makes no {kind}")
    replay.get_by_role("button", name=f"Film ({kind}): begin").click()
    replay.get_by_role("button", name="Play", exact=True).click()
    until(lambda: replay.evaluate("covey.model.step()") >= 7, page=replay)
    name, data = saved(replay, f"Film ({kind}): end and save")
    assert name.endswith(f".{kind.lower()}")
    assert data[at : at + 4] == mark
    width, height = replay.evaluate("[covey.view.canvas.width, covey.view.canvas.height]")
    inside = replay.evaluate("covey.view.pixel(-10.05, 0)")  # the wall around the maze
    film = replay.evaluate(
        """async ([data, kind, [x, y]]) => {
            const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
            const video = document.createElement("video");
            video.muted = true;
            video.src = URL.createObjectURL(new Blob([bytes], { type: `video/${kind}` }));
            await new Promise((done, failed) => ((video.onloadeddata = done), (video.onerror = () => failed(video.error))));
            const shown = new Promise((done) => video.requestVideoFrameCallback(done));
            await video.play();
            await shown;
            const one = new OffscreenCanvas(1, 1).getContext("2d");
            one.drawImage(video, -Math.round(x), -Math.round(y));
            return [video.videoWidth, video.videoHeight, [...one.getImageData(0, 0, 1, 1).data]];
        }""",
        [base64.b64encode(data).decode(), kind.lower(), inside],
    )
    assert film[:2] == [width & ~1, height & ~1]
    assert film[2][:3] == pytest.approx([0x2B, 0x34, 0x40], abs=24)  # films lose some colour
