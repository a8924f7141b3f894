"use strict";
// Tables and figures of pages: of a report, and of `bench serve`. Inserts every text of a run as
// text, never as HTML. Needs `benchFigure`.
var benchCards = (() => {
  const { view, svg, valueOf, lengthOf } = benchFigure;
  const rowsAtATime = 100;

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "class") element.className = value;
      else if (value !== null) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  const save = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  // Of the page, if it has one of its own.
  const theme = () =>
    document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light");

  const columnLabel = (column) => column.title + (column.unit ? ` [${column.unit}]` : "");

  const csvOf = (table) => {
    const field = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [table.columns.map((column) => field(columnLabel(column))).join(",")];
    for (let row = 0; row < table.rows; ++row)
      lines.push(table.columns.map((column) => field(valueOf(column.values, row))).join(","));
    return lines.join("\r\n") + "\r\n";
  };

  const shownAt = (column, row) => {
    const shown = column.shown && valueOf(column.shown, row);
    const value = shown ?? valueOf(column.values, row);
    if (value === null || value === undefined) return null;
    return typeof value === "number" && column.decimals !== undefined
      ? value.toFixed(column.decimals) : String(value);
  };

  // What bench writes as a number; NaN for any other text.
  const infinities = new Map([["inf", Infinity], ["-inf", -Infinity]]);
  const numberOf = (text) =>
    infinities.get(text) ?? (String(text).trim() === "" ? NaN : Number(text));

  // Whether a word occurs in a row. Repeated texts are searched once.
  const occurrence = (word, table) => {
    const mayBeNumber = /^[-+.e\d]+$/.test(word);
    const tests = [];
    for (const column of table.columns) {
      for (const texts of [column.values, column.shown])
        if (texts && !Array.isArray(texts)) {
          const found = texts.d.map((text) => text.toLowerCase().includes(word));
          tests.push((row) => found[texts.i[row]] === true);
        }
      if (Array.isArray(column.values) && mayBeNumber)
        tests.push((row) => (shownAt(column, row) ?? "").includes(word));
    }
    return (row) => tests.some((test) => test(row));
  };

  // The words of a filter. Quotes, and the name of a column before an operator, may hold blanks.
  const wordsOf = (text, table) => {
    const names = table.columns.map((column) => column.title.toLowerCase());
    for (const name of names.filter((one) => /\s/.test(one)).sort((a, b) => b.length - a.length))
      for (const operator of "<>=!") text = text.replaceAll(name + operator, `"${name}"${operator}`);
    const words = text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
    return words.map((word) => word.replaceAll('"', "").trim()).filter(Boolean);
  };

  // `batch_size>=64`, `state!=done`: a comparison with a column; any other word must occur in a row.
  const conditionOf = (word, table) => {
    const match = word.match(/^(.+?)(<=|>=|!=|=|<|>)(.*)$/);
    const name = match && match[1].toLowerCase();
    const column = match && table.columns.find((one) => one.title.toLowerCase() === name);
    if (!column) return null;
    const [, , operator, wanted] = match;
    const number = numberOf(wanted);
    return (row) => {
      const value = valueOf(column.values, row);
      if (value === null) return operator === "!=";
      if (operator === "=" || operator === "!=") {
        const equal = typeof value === "number" && !isNaN(number)
          ? value === number : String(value).toLowerCase() === wanted;
        return equal === (operator === "=");
      }
      const found = numberOf(value);
      return operator === "<" ? found < number : operator === ">" ? found > number
        : operator === "<=" ? found <= number : found >= number;
    };
  };

  class Table {
    constructor(table, name) {
      this.table = table;
      this.order = Uint32Array.from({ length: table.rows }, (_, row) => row);
      this.limit = rowsAtATime;
      this.sorted = { column: -1, ascending: true };
      this.body = make("tbody");
      this.count = make("span", { class: "count", role: "status" });
      this.more = make("button", { type: "button", class: "small", onclick: () => this.showMore() });
      this.unprinted = make("p", { class: "note only-print" });
      this.input = make("input", {
        type: "search", placeholder: "filter: words, or column>=number",
        "aria-label": `filter the rows of ${name}`, oninput: () => this.filter(),
      });
      this.heads = table.columns.map((column, k) => this.head(column, k));
      this.element = make("div", { class: "table" },
        make("div", { class: "tools" }, table.rows > 5 ? this.input : null, this.count,
          make("button", { type: "button", class: "small",
            onclick: () => save(`${name}.csv`, "text/csv", csvOf(table)) }, "csv")),
        make("div", { class: "scroll", tabindex: "0" },
          make("table", {}, make("thead", {}, make("tr", {}, ...this.heads)), this.body)),
        this.more, this.unprinted);
      this.element.style.setProperty("--columns", table.columns.length);  // of the size in print
      this.show();
    }

    head(column, k) {
      const unit = [column.unit && `[${column.unit}]`, column.estimated && "(estimated)"];
      return make("th", { scope: "col", class: Array.isArray(column.values) ? "n" : "" },
        make("button", { type: "button", onclick: () => this.sort(k) }, column.title,
          make("span", { class: "unit" }, unit.filter(Boolean).map((text) => " " + text).join(""))));
    }

    filter() {
      const conditions = wordsOf(this.input.value.toLowerCase(), this.table).map((word) =>
        conditionOf(word, this.table) ?? occurrence(word, this.table));
      this.order = Uint32Array.from({ length: this.table.rows }, (_, row) => row)
        .filter((row) => conditions.every((holds) => holds(row)));
      this.limit = rowsAtATime;
      this.arrange();
    }

    sort(column) {
      const again = this.sorted.column === column;
      this.sorted = { column, ascending: again ? !this.sorted.ascending : true };
      this.heads.forEach((head, k) => {
        if (k === column)
          head.setAttribute("aria-sort", this.sorted.ascending ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      this.arrange();
    }

    // `nan` and then missing values come last in both directions.
    arrange() {
      const { column, ascending } = this.sorted;
      if (column >= 0) {
        const values = this.table.columns[column].values;
        const sign = ascending ? 1 : -1;
        const rank = Array.isArray(values) ? null : this.ranks(values.d);
        const key = (row) => (rank ? (values.i[row] < 0 ? null : rank[values.i[row]]) : values[row]);
        const lateness = (one) => (one === null ? 2 : isNaN(one) ? 1 : 0);
        this.order.sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          return lateness(x) - lateness(y) || (lateness(x) ? 0 : (x - y) * sign) || a - b;
        });
      }
      this.show();
    }

    // Numbers before texts. Beside numbers, `nan` has no rank; among words, it is one.
    ranks(texts) {
      const order = texts.map((_, k) => k);
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const numbers = texts.map(numberOf);
      const hasNumbers = numbers.some((number) => !isNaN(number));
      order.sort((a, b) => isNaN(numbers[a]) - isNaN(numbers[b]) ||
        (isNaN(numbers[a]) ? compare(texts[a], texts[b]) : Math.sign(numbers[a] - numbers[b]) || 0));
      return order.reduce((ranks, at, rank) => {
        ranks[at] = hasNumbers && texts[at] === "nan" ? NaN : rank;
        return ranks;
      }, []);
    }

    showMore() {
      this.limit *= 10;
      this.show();
    }

    show() {
      const shown = Math.min(this.limit, this.order.length);
      const rows = [];
      for (let k = 0; k < shown; ++k) rows.push(this.row(this.order[k]));
      this.body.replaceChildren(...rows);
      this.count.textContent = this.order.length === this.table.rows
        ? `${this.table.rows} row${this.table.rows === 1 ? "" : "s"}`
        : `${this.order.length} of ${this.table.rows} rows`;
      this.more.hidden = shown === this.order.length;
      this.more.textContent = `${this.order.length - shown} more rows`;
      this.unprinted.hidden = shown === this.table.rows;
      this.unprinted.textContent = `${shown} of ${this.table.rows} rows`;
    }

    row(row) {
      const state = this.table.states ? valueOf(this.table.states, row) : "done";
      const kind = state === "failed" || state === "out of memory" ? "failed"
        : state === "skipped" ? "skipped" : null;
      const cells = this.table.columns.map((column) => {
        const text = shownAt(column, row);
        const number = Array.isArray(column.values);
        if (text !== null) return make("td", { class: number ? "n" : "" }, text);
        const why = column.absent && valueOf(column.absent, row);
        return make("td", { class: number ? "n missing" : "missing", title: why ?? null },
          state === "done" ? "n/a" : state === "out of memory" ? "OOM" : state);
      });
      return make("tr", { class: kind }, ...cells);
    }
  }

  // Above this many rows, charts use a canvas: so many SVG elements would slow the page down.
  const mostElements = 4000;

  class Chart {
    constructor(figure, panel) {
      this.figure = figure;
      this.panel = panel;
      this.element = make("div", { class: "chart" });
    }

    draw(width = Math.floor(this.element.clientWidth)) {
      if (width < 50) return;
      this.width = width;
      this.view?.finalize();
      const many = lengthOf(this.figure.columns[0].values) > mostElements;
      try {
        this.view = view(this.figure, this.panel, width, theme(), many ? "canvas" : "svg");
        this.view.initialize(this.element).run();
      } catch (error) {
        this.element.textContent = `cannot be drawn: ${error.message}`;
        console.error(error);
      }
    }
  }

  const figureCard = (figure, charts) => {
    figure.rows = figure.columns.length ? lengthOf(figure.columns[0].values) : 0;
    const panels = figure.panels.map((panel) => {
      const chart = new Chart(figure, panel);
      charts.push(chart);
      return make("div", { class: "panel" }, panel.title ? make("h4", {}, panel.title) : null,
        chart.element);
    });
    const data = make("details", {}, make("summary", {}, "data"));
    data.addEventListener("toggle", () => {
      if (data.open && data.children.length === 1) data.append(new Table(figure, figure.id).element);
    });
    const button = (text, action) =>
      make("button", { type: "button", class: "small", onclick: action, "aria-label":
        `${text} of ${figure.title}` }, text);
    return make("figure", { class: figure.panels.length > 1 ? "card wide" : "card",
      id: "figure-" + figure.id },  // no other id begins so
      make("figcaption", {}, make("h3", {}, figure.title),
        button("csv", () => save(`${figure.id}.csv`, "text/csv", csvOf(figure))),
        button("svg", async () =>
          save(`${figure.id}.svg`, "image/svg+xml", await svg(figure, theme())))),
      make("div", { class: "panels" }, ...panels),
      ...figure.notes.map((note) => make("p", { class: "note" }, note)),
      data);
  };

  // Draws charts again where they have become wider or narrower, on paper, and when the preferred
  // theme changes.
  // @param charts those that the page shows at the time
  const watch = (charts, setTheme) => {
    prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        for (const chart of charts)
          if (Math.abs(chart.element.clientWidth - chart.width) > 4) chart.draw();
      }, 150);
    });
    let before = null;
    addEventListener("beforeprint", () => {
      before = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      for (const chart of charts) chart.draw(290);
    });
    addEventListener("afterprint", () => {
      if (before) document.documentElement.dataset.theme = before;
      else delete document.documentElement.dataset.theme;
      for (const chart of charts) chart.draw();
    });
  };

  return { make, theme, Table, figureCard, watch };
})();
