"""Presets of well-known radios, by name, in the form of a file.

``gz`` and ``subt`` have the numbers from code: RFComms of gz-sim 8 (defaults), and the SubT challenge's cloudsim. The
others are textbook values (transmit power, sensitivity, loss at 1 m, office exponent, useful rate): of the right
magnitude, but not from data sheets.
"""

from typing import Any


def _textbook(tx: float, sensitivity: float, l0: float, exponent: float, sigma: float, rate: float) -> dict[str, Any]:
    shadowed = {"l0_db": l0, "exponent": exponent, "sigma_db": sigma, "same_within_m": 1.0}
    return {
        "tx_power_dbm": tx,
        "sensitivity_dbm": sensitivity,
        "links": [{"log_distance": shadowed}],
        "bandwidth_kbit_s": rate,
    }


PRESETS: dict[str, dict[str, Any]] = {
    "gz": {
        "range_m": 50.0,
        "tx_power_dbm": 27.0,
        "noise_dbm": -90.0,
        "receiver": "qpsk",
        "links": [{"log_distance": {"l0_db": 40.0, "exponent": 2.5, "sigma_db": 10.0}}],
        "bandwidth_kbit_s": 54_000.0,
    },
    "subt": {
        "range_m": 500.0,
        "tx_power_dbm": 20.0,
        "noise_dbm": -90.0,
        "receiver": "qpsk",
        "links": [{"log_distance": {"l0_db": 40.0, "exponent": 2.5, "sigma_db": 10.0}}],
        "bandwidth_kbit_s": 1000.0,
    },
    "wifi_2_4": _textbook(15.0, -82.0, 40.0, 3.0, 6.0, 6500.0),
    "wifi_5": _textbook(17.0, -82.0, 46.7, 3.0, 6.0, 6500.0),
    "ble": _textbook(0.0, -93.0, 40.0, 2.8, 5.0, 700.0),
    "zigbee": _textbook(0.0, -100.0, 40.0, 2.8, 5.0, 100.0),
    "lora": _textbook(14.0, -137.0, 31.0, 2.7, 7.0, 5.0),
}
