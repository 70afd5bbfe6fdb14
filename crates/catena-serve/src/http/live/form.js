// The form that sets, corrects and removes a value.

/** The form of a model with these inputs and outputs; `onDone` after a change. */
class ReadingForm {
  constructor(state, onDone) {
    this.state = state;
    this.said = element("p", { class: "said", role: "status", "aria-live": "polite" });
    this.output = element("select", { name: "output" }, state.outputs.map((name) => element("option", { value: name }, name)));
    this.places = state.inputs.map((input) => element("input", { name: input.name, required: true, autocomplete: "off", placeholder: input.is_time ? "YYYY-MM-DD HH:MM" : "" }));
    this.value = element("input", { name: "value", inputmode: "decimal", autocomplete: "off" });
    const labeled = (text, field) => element("label", {}, text, field);
    this.node = element("form", { onsubmit: (event) => { event.preventDefault(); this.send(onDone, false); } },
      labeled("Output", this.output), state.inputs.map((input, at) => labeled(input.name, this.places[at])), labeled("Value", this.value),
      element("button", { type: "submit" }, "Set"), element("button", { type: "button", onclick: () => this.send(onDone, true) }, "Remove"),
      element("button", { type: "button", onclick: () => this.expect() }, "Compare"), this.said);
  }

  /** Fills the form. */
  fill(output, places, value) {
    this.output.value = output;
    this.places.forEach((field, at) => { field.value = places[at]; });
    this.value.value = Number.isFinite(value) ? String(Number(value.toPrecision(7))) : "";
    this.say("");
    this.value.focus();
  }

  say(text, isWrong = false) {
    this.said.textContent = text;
    this.said.classList.toggle("wrong", isWrong);
  }

  /** The place, with times as text and numbers as numbers. */
  place() {
    const row = {};
    this.state.inputs.forEach((input, at) => {
      const text = this.places[at].value.trim();
      row[input.name] = input.is_time ? text : Number(text.replace(",", "."));
      if (!text || (!input.is_time && !Number.isFinite(row[input.name]))) throw new Error(`${input.name} needs a value`);
    });
    return row;
  }

  number() {
    const number = Number(this.value.value.trim().replace(",", "."));
    if (!this.value.value.trim() || !Number.isFinite(number)) throw new Error("the value is not a number");
    return number;
  }

  async send(onDone, isRemoval) {
    try {
      const place = this.place();
      if (isRemoval) await posted("/v1/remove", { ...place, outputs: [this.output.value] });
      else await posted("/v1/readings", { ...place, [this.output.value]: this.number() });
      this.say(isRemoval ? "Removed." : "Set.");
      onDone();
    } catch (error) {
      this.say(error.message, true);
    }
  }

  async expect() {
    try {
      const row = (await posted("/v1/expected", { ...this.place(), [this.output.value]: this.number() })).rows[0];
      const of = (end) => row[`${this.output.value}_${end}`];
      const far = of("deviation") === null ? "" : `; the value is ${fixed(of("deviation"), 1)} standard deviations from it`;
      this.say(`All others say ${significant(of("expected"), 5)} \u00b1 ${significant(1.959964 * of("std"), 3)} (95${NARROW_SPACE}%)${far}.`);
    } catch (error) {
      this.say(error.message, true);
    }
  }
}
