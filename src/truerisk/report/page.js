"use strict";
(() => {
  const byId = (name) => document.getElementById(name);

  // Numbers as Python writes them: four decimals, exact ties (odd multiples of 1/32) to even.
  const number = (value) => {
    if (!Number.isFinite(value)) return "–";
    if (Math.abs(value) >= 1000) return String(Number(value.toPrecision(4)));
    const tie = value * 32;
    if (Number.isInteger(tie) && tie % 2 !== 0) {
      const down = Math.floor(value * 1e4);
      return ((down % 2 === 0 ? down : down + 1) / 1e4).toFixed(4);
    }
    return value.toFixed(4);
  };
  const count = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

  // ---- the threshold
  const store = byId("rates-data");
  const slider = byId("threshold-slider");
  if (store && slider) {
    const data = JSON.parse(store.textContent);
    const costs = ["cost-fp", "cost-fn", "prevalence"].map(byId);
    const shown = {};
    for (const cell of document.querySelectorAll("[data-show]")) shown[cell.dataset.show] = cell;
    const read = (field, least, most) => {
      const value = field.valueAsNumber;
      const good = Number.isFinite(value) && value >= least && value <= most;
      field.setAttribute("aria-invalid", String(!good));
      return good ? value : NaN;
    };
    const expected = (i) => {
      const [fp, fn] = [read(costs[0], 0, Infinity), read(costs[1], 0, Infinity)];
      const share = read(costs[2], 0, 1);
      const own = costs[2].value === costs[2].defaultValue;
      const missed = fn * (data.positives - data.tp[i]);
      const alarms = fp * data.fp[i];
      return own
        ? (missed + alarms) / (data.positives + data.negatives)
        : (share * missed) / data.positives + ((1 - share) * alarms) / data.negatives;
    };
    const last = data.tp.length - 1; // thresholds fall, the slider's rise to the right
    const show = () => {
      const i = last - Number(slider.value);
      const [n1, n0, tp, fp] = [data.positives, data.negatives, data.tp[i], data.fp[i]];
      const [fn, tn] = [n1 - tp, n0 - fp];
      const now = {
        tp: count(tp), fp: count(fp), fn: count(fn), tn: count(tn),
        sensitivity: number(tp / n1), specificity: number(tn / n0),
        precision: number(tp / (tp + fp)), npv: number(tn / (tn + fn)),
        error: number((fn + fp) / (n1 + n0)), cost: number(expected(i)),
      };
      for (const [name, text] of Object.entries(now)) shown[name].textContent = text;
      byId("threshold-value").textContent = data.thresholds[i];
      slider.setAttribute("aria-valuetext", data.thresholds[i]);
      for (const name of ["roc", "pr"]) {
        const mark = document.querySelector(`#figure-${name} .drawing .here`);
        mark.setAttribute("cx", data[name][i][0]);
        mark.setAttribute("cy", data[name][i][1]);
      }
      byId("threshold-said").textContent =
        `Sensitivity ${now.sensitivity}, specificity ${now.specificity}, cost ${now.cost}.`;
    };
    slider.addEventListener("input", show);
    for (const field of costs) field.addEventListener("input", show);
    byId("least-cost").addEventListener("click", () => {
      let best = 0;
      for (let i = 1; i < data.tp.length; i += 1) if (expected(i) < expected(best)) best = i;
      slider.value = String(last - best);
      show();
    });
    slider.value = String(last - data.start); // a reload keeps the old place, the numbers start anew
    for (const field of costs) field.value = field.defaultValue;
    document.querySelector(".controls").hidden = false;
  }

  // ---- a slider through the points of a figure, and what each step says
  for (const steps of document.querySelectorAll(".steps")) {
    const [slider, said] = [steps.querySelector("input"), steps.querySelectorAll("li")];
    const points = steps.closest("figure").querySelectorAll(".drawing .point"); // line after line
    const alike = [...document.querySelectorAll(".steps input")].filter((one) => one.max === slider.max);
    const show = () => {
      const now = Number(slider.value);
      for (const one of alike) { // figures with as many steps move together
        if (one.value !== slider.value) {
          one.value = slider.value;
          one.dispatchEvent(new Event("input"));
        }
      }
      said.forEach((one, i) => { one.hidden = i !== now; });
      points.forEach((one, i) => { one.classList.toggle("at", i % said.length === now); });
      slider.setAttribute("aria-valuetext", said[now].textContent);
    };
    slider.addEventListener("input", show);
    slider.value = slider.defaultValue;
    steps.querySelector(".controls").hidden = false;
    show();
  }

  // ---- what a point says: by pointer, and by the arrow keys on a figure
  const tip = byId("tip");
  let lit = null;
  const hide = () => {
    tip.hidden = true;
    if (lit) lit.classList.remove("lit");
    lit = null;
  };
  const point = (mark) => {
    if (lit === mark) return;
    hide();
    lit = mark;
    mark.classList.add("lit");
    tip.textContent = mark.said;
    tip.hidden = false;
    const at = mark.getBoundingClientRect();
    const left = at.left + at.width / 2 - tip.offsetWidth / 2;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, room)) + window.scrollX}px`;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.top = `${(above < 4 ? at.bottom + 8 : above) + window.scrollY}px`;
  };
  for (const plot of document.querySelectorAll(".plot")) {
    const marks = [...plot.querySelectorAll("[data-tip]")];
    if (!marks.length) continue;
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.said = title.textContent;
      title.remove(); // else the browser shows it once more
    }
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${plot.dataset.name}: ${marks.length} points, read by the arrow keys`);
    plot.addEventListener("pointermove", (event) => {
      let [nearest, least] = [null, 28 * 28];
      for (const mark of marks) {
        const at = mark.getBoundingClientRect();
        const far = (at.left + at.width / 2 - event.clientX) ** 2 + (at.top + at.height / 2 - event.clientY) ** 2;
        if (far < least) [nearest, least] = [mark, far];
      }
      if (nearest) point(nearest);
      else hide();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const from = marks.indexOf(lit);
      const to = from < 0 ? (step > 0 ? 0 : marks.length - 1) : (from + step + marks.length) % marks.length;
      point(marks[to]);
      byId("tip-said").textContent = marks[to].said;
    });
  }

  // ---- a drawing by itself: its title above it, its legend below it, light colours in its style
  const SVG = "http://www.w3.org/2000/svg";
  const put = (parent, name, values, text = "") => {
    const made = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  const drawing = (figure) => {
    const svg = figure.querySelector(".drawing").cloneNode(true);
    svg.setAttribute("class", "alone"); // else it would be as wide as the window
    svg.querySelectorAll(".here").forEach((mark) => mark.remove());
    svg.querySelectorAll("[data-tip]").forEach((mark) => mark.removeAttribute("data-tip"));
    svg.querySelectorAll(".lit, .at").forEach((mark) => mark.classList.remove("lit", "at"));
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const fitted = (text, room, letters) => (text.length > letters ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {});
    const title = figure.querySelector(".plot").dataset.name;
    put(svg, "text", { class: "heading", x: 4, y: -13, ...fitted(title, 472, 62) }, title);
    const keys = [...figure.querySelectorAll(".keys li")].filter((key) => !key.querySelector(".here"));
    keys.forEach((key, i) => {
      const sign = svg.appendChild(key.querySelector("svg").cloneNode(true));
      for (const [name, value] of Object.entries({ x: 10, y: height + 20 * i + 4 })) sign.setAttribute(name, value);
      const text = key.textContent.trim();
      put(svg, "text", { x: 44, y: height + 20 * i + 15, ...fitted(text, 430, 68) }, text);
    });
    const size = { width, height: height + 20 * keys.length + 36 };
    for (const [name, value] of Object.entries({ ...size, viewBox: `0 -30 ${width} ${size.height}` })) svg.setAttribute(name, value);
    svg.prepend(put(svg, "rect", { y: -30, ...size, fill: "#ffffff" }));
    const light = byId("looks").sheet.cssRules[0].style; // those of the dark come after it
    const rules = byId("marks").textContent.replace(/var\((--\w+)\)/g, (_, name) => light.getPropertyValue(name).trim());
    svg.prepend(put(svg, "style", {}, rules));
    return new XMLSerializer().serializeToString(svg);
  };
  const WIDE = 1920; // pixels: 6.4 inches of 300 each
  const save = (url, button, name) => {
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    button.parentElement.querySelector("[role=status]").textContent = `saved ${name}`;
  };
  document.querySelectorAll("figure").forEach((figure, i) => {
    const name = `${String(i + 1).padStart(2, "0")}-${figure.id.replace("figure-", "")}`;
    for (const button of figure.querySelectorAll("[data-save]")) {
      button.addEventListener("click", () => {
        const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing(figure))}`;
        if (button.dataset.save === "svg") return save(url, button, `${name}.svg`);
        const image = new Image();
        image.onload = () => {
          const high = Math.round((WIDE * image.naturalHeight) / image.naturalWidth);
          const canvas = Object.assign(document.createElement("canvas"), { width: WIDE, height: high });
          canvas.getContext("2d").drawImage(image, 0, 0, WIDE, high);
          save(canvas.toDataURL("image/png"), button, `${name}.png`);
        };
        image.src = url;
      });
    }
  });

  // ---- copying, printing, wide tables
  const copying = (button, text, select) => {
    button.closest(".copy").hidden = false;
    button.addEventListener("click", async () => {
      const said = button.parentElement.querySelector("[role=status]");
      try {
        await navigator.clipboard.writeText(text());
        said.textContent = "copied";
      } catch {
        window.getSelection().selectAllChildren(select());
        said.textContent = "selected: copy it with the keyboard";
      }
    });
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    const from = byId(button.dataset.copy);
    copying(button, () => from.textContent.trim(), () => from);
  }
  for (const button of document.querySelectorAll("[data-drawing]")) {
    const figure = byId(button.dataset.drawing);
    const kept = document.createElement("pre"); // what is selected where nothing may be copied
    kept.className = "unseen";
    copying(button, () => drawing(figure), () => {
      kept.textContent = drawing(figure);
      button.parentElement.append(kept);
      return kept;
    });
  }
  let opened = [];
  window.addEventListener("beforeprint", () => {
    hide();
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of opened) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
  const reach = () => {
    for (const part of document.querySelectorAll(".scroll")) {
      const wide = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
      if (wide) {
        part.tabIndex = 0;
        part.setAttribute("role", "group");
        part.setAttribute("aria-label", part.querySelector("caption").textContent);
      } else {
        part.removeAttribute("tabindex");
      }
    }
  };
  reach();
  window.addEventListener("resize", reach);
  for (const part of document.querySelectorAll("details")) part.addEventListener("toggle", reach);
})();
