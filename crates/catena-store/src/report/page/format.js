// Numbers, times and ticks as text.

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";
const DASH = "\u2013";

/** A number with fixed decimals and a true minus sign. */
function fixed(value, decimals) {
  if (!Number.isFinite(value)) return DASH;
  const text = value.toFixed(Math.max(0, Math.min(12, decimals)));
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace("-", MINUS);
}

/** A number with significant digits; exponential notation if very large or small. */
function significant(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent > 6) return value.toExponential(digits - 1).replace(/-/g, MINUS);
  return fixed(value, digits - 1 - exponent);
}

/** A count with narrow spaces between thousands. */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
}

/** A share as a percentage. */
function percent(share, decimals = 1) {
  return share === null || share === undefined ? DASH : `${fixed(100 * share, decimals)}${NARROW_SPACE}%`;
}

/** Decimals that show two digits of a width. */
function decimalsFor(width, value) {
  const size = width > 0 && Number.isFinite(width) ? width / 10 : Math.abs(value) / 1e4;
  return size > 0 ? Math.max(0, Math.min(10, -Math.floor(Math.log10(size)))) : 2;
}

/** Name with its unit. */
function withUnit(thing) {
  return thing.unit ? `${thing.name} (${thing.unit})` : thing.name;
}

/** Round values between two ends, about `wanted` of them: `{ values, decimals }`. */
function roundTicks(lo, hi, wanted) {
  const span = hi - lo;
  if (!(span > 0)) return { values: [lo], decimals: 2 };
  const raw = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step * 1.0001))));
  const values = [];
  for (let at = Math.ceil(lo / step - 1e-9); at * step <= hi + 1e-9 * step; at++) values.push(at * step);
  return { values, decimals };
}

/** Ticks and text of an axis of times or numbers. */
class AxisText {
  constructor(axis, values) {
    this.axis = axis;
    this.zone = axis.kind === "number" ? null : axis.kind.time;
    this.offset = this.zone && this.zone !== "naive" ? 60 * this.zone.minutes_ahead_of_utc : 0;
    this.hasSeconds = false;
    this.onlyDates = true;
    this.step = 0;
    if (this.zone) {
      for (let at = 0; at < values.length; at += Math.max(1, Math.floor(values.length / 2000))) {
        const seconds = values[at] + this.offset;
        if (seconds % 60 !== 0) this.hasSeconds = true;
        if (seconds % 86400 !== 0) this.onlyDates = false;
      }
    } else {
      let lo = Infinity, hi = -Infinity;
      for (const value of values) { lo = Math.min(lo, value); hi = Math.max(hi, value); }
      this.step = (hi - lo) / 1000;
    }
  }

  /** A time in ISO format, in the zone of the axis. */
  stamp(seconds) {
    const date = new Date(Math.round((seconds + this.offset) * 1000));
    return Number.isNaN(date.getTime()) ? "" : date.toISOString();
  }

  /** A value as the tooltip writes it. */
  write(value) {
    if (!this.zone) {
      const unit = this.axis.unit ? ` ${this.axis.unit}` : "";
      return fixed(value, decimalsFor(10 * this.step, value)) + unit;
    }
    const stamp = this.stamp(value);
    if (!stamp) return significant(value, 10);
    if (this.onlyDates) return stamp.slice(0, 10);
    const fraction = value % 1 !== 0 ? stamp.slice(19, 23) : "";
    return `${stamp.slice(0, 10)} ${stamp.slice(11, this.hasSeconds ? 19 : 16)}${fraction}${this.zoneText()}`;
  }

  zoneText() {
    if (!this.zone || this.zone === "naive") return "";
    const minutes = this.zone.minutes_ahead_of_utc;
    if (minutes === 0) return " UTC";
    const size = Math.abs(minutes);
    const two = (number) => String(number).padStart(2, "0");
    return ` ${minutes < 0 ? MINUS : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  /** Ticks between two values: `{ value, text, context }`; the context is a second line, where it changes. */
  ticks(lo, hi, wanted) {
    if (!this.zone) {
      const { values, decimals } = roundTicks(lo, hi, wanted);
      return values.map((value) => ({ value, text: fixed(value, decimals) }));
    }
    return timeTicks(this, lo, hi, wanted);
  }
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = 86400;
const MONTH = 30.44 * DAY;
const SECOND_STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 5 * DAY, 10 * DAY];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

/** Ticks at whole seconds, hours, days, months or years; about `wanted` of them. */
function timeTicks(text, lo, hi, wanted) {
  const raw = (hi - lo) / Math.max(1, wanted);
  if (raw < 0.5) {
    const { values } = roundTicks(lo, hi, wanted);
    return values.map((value) => ({ value, text: text.stamp(value).slice(14, 23) }));
  }
  const values = [];
  const seconds = SECOND_STEPS.find((step) => step >= raw * 0.9);
  const months = seconds ? 0 : MONTH_STEPS.find((step) => step * MONTH >= raw * 0.9) || 1200;
  const shiftedLo = lo + text.offset, shiftedHi = hi + text.offset;
  if (seconds && seconds <= DAY) {
    for (let at = Math.ceil(shiftedLo / seconds); at * seconds <= shiftedHi; at++) values.push(at * seconds);
  } else {
    const date = new Date(shiftedLo * 1000);
    let year = date.getUTCFullYear(), month = date.getUTCMonth();
    if (months) { month = 12 * year + month; month -= month % months; year = 0; }
    for (;;) {
      const first = Date.UTC(year + Math.floor(month / 12), ((month % 12) + 12) % 12, 1) / 1000;
      if (!(first <= shiftedHi)) break;
      if (months) {
        if (first >= shiftedLo) values.push(first);
        month += months;
        continue;
      }
      // Days of a month, leaving out one too close to the first of the next.
      const next = Date.UTC(year + Math.floor((month + 1) / 12), (month + 1) % 12, 1) / 1000;
      for (let day = first; day < next - 0.6 * seconds || day === first; day += seconds) {
        if (day >= shiftedLo && day <= shiftedHi) values.push(day);
      }
      month += 1;
    }
  }
  let before = "";
  return values.map((shifted) => {
    const value = shifted - text.offset;
    const stamp = text.stamp(value);
    const month = MONTHS[Number(stamp.slice(-19, -17)) - 1] || "";
    const year = stamp.slice(0, stamp.indexOf("-", 1));
    const day = `${Number(stamp.slice(-16, -14))} ${month}`;
    let label, context;
    if (months >= 12) [label, context] = [year, ""];
    else if (months) [label, context] = [month, year];
    else if (seconds >= DAY) [label, context] = [day, year];
    else [label, context] = [stamp.slice(-13, seconds < 60 ? -5 : -8), `${day} ${year}`];
    const tick = { value, text: label, context: context !== before ? context : "" };
    before = context;
    return tick;
  });
}
