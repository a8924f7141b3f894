"use strict";
// Prepares the figures of a report for Vega. Used by the page and, under Node.js, by draw.mjs.
// Needs `vega`, `vegaLite` and `vegaInterpreter`.
var benchFigure = (() => {
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif';

  // Colours that colour-blind people can distinguish, on both backgrounds (after Okabe and Ito).
  const themes = {
    light: {
      text: "#1b2430", faint: "#5c6877", grid: "#e6eaee", bad: "#b3261e", badBack: "#f6d5d2",
      background: "#ffffff",
      category: ["#0b62b8", "#d55e00", "#00805f", "#a3417e", "#8a6d00", "#3c9bd8", "#5b4bb5",
        "#7f7f7f", "#b3261e", "#3f7d20"],
      ramp: ["#e8f1fa", "#b5d3ee", "#74abdc", "#3580c2", "#0b4f97"],
    },
    dark: {
      text: "#e4e9f0", faint: "#9aa7b6", grid: "#2c343f", bad: "#ff8a80", badBack: "#4a2626",
      background: "#1b212a",
      category: ["#6fb3f5", "#ff9d4d", "#4fd1a5", "#e58bc4", "#e2c34a", "#a6d8ff", "#b0a3ff",
        "#b5b5b5", "#ff8a80", "#9ddb7b"],
      ramp: ["#1d2e42", "#24507d", "#3579b8", "#6fb3f5", "#d3e9ff"],
    },
  };

  const config = (name) => {
    const theme = themes[name];
    const text = { font, labelFont: font, titleFont: font };
    return {
      background: null,
      font,
      view: { stroke: null },
      mark: { color: theme.category[0] },
      line: { strokeWidth: 2 },
      point: { opacity: 1 },
      axis: {
        ...text, labelColor: theme.faint, titleColor: theme.text, gridColor: theme.grid,
        domainColor: theme.faint, tickColor: theme.faint, labelFontSize: 11, titleFontSize: 12,
        titleFontWeight: 500, titlePadding: 8, labelLimit: 220,
      },
      axisBand: { grid: false },
      legend: {
        ...text, labelColor: theme.text, titleColor: theme.faint, labelFontSize: 11,
        titleFontSize: 11, titleFontWeight: 500, symbolStrokeWidth: 2,
      },
      range: { category: theme.category, ramp: theme.ramp, heatmap: theme.ramp },
      style: {
        interval: { strokeWidth: 1.5, opacity: 0.75 },
        "interval-of-bar": { color: theme.text, strokeWidth: 1.5 },
        failure: { size: 70, opacity: 1 },
        "failure-text": { color: theme.bad, fontSize: 11, fontWeight: 600 },
        "failure-halo": { color: theme.background, fontSize: 11, fontWeight: 600,
          stroke: theme.background, strokeWidth: 3, strokeJoin: "round" },
        number: { size: 14, opacity: 0.55, strokeWidth: 1 },
        partial: { size: 150, strokeWidth: 1.5, opacity: 1 },
        "failed-cell": { color: theme.badBack },
        ideal: { color: theme.faint, strokeDash: [6, 4], strokeWidth: 1.5 },
        "ideal-text": { color: theme.faint, fontSize: 11 },
        cell: { fontSize: 11 },
        region: { opacity: 0.16 },
        "region-text": { color: theme.text, fontSize: 10 },
      },
    };
  };

  // A column is an array of numbers, or `d` with its different texts and `i` with their positions.
  const valueOf = (values, row) =>
    Array.isArray(values) ? values[row] : values.i[row] < 0 ? null : values.d[values.i[row]];
  const lengthOf = (values) => (Array.isArray(values) ? values : values.i).length;

  const rowsOf = (figure) => {
    const count = figure.columns.length ? lengthOf(figure.columns[0].values) : 0;
    const rows = new Array(count);
    for (let row = 0; row < count; ++row) {
      rows[row] = {};
      figure.columns.forEach((column, k) => (rows[row]["c" + k] = valueOf(column.values, row)));
    }
    return rows;
  };

  // A view of one panel that is not drawn yet.
  const view = (figure, panel, width, theme, renderer) => {
    const specification = {
      width,
      description: figure.description,
      autosize: { type: "fit-x", contains: "padding" },
      padding: { left: 2, right: 10, top: 6, bottom: 2 },
      data: { values: rowsOf(figure) },
      ...structuredClone(panel.specification),
    };
    const settings = config(theme);
    const widest = panel.legend_characters * 6.6 + 46;
    settings.legend.columns = Math.max(1, Math.floor((width - 60) / widest));
    const compiled = vegaLite.compile(specification, { config: settings });
    // As a tree and with an interpreter: no expression becomes code, as the policy demands.
    const runtime = vega.parse(compiled.spec, null, { ast: true });
    return new vega.View(runtime, { expr: vegaInterpreter, renderer, logLevel: vega.Error });
  };

  // Characters that XML does not allow, not even escaped.
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  const escaped = (text) =>
    text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  const wrapped = (text, width) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length >= width) lines.push("");
      lines.push((lines.pop() + " " + word).trim());
    }
    return lines;
  };

  // All panels of a figure between its title and its notes, as one SVG file.
  const svg = async (figure, theme, width = 640) => {
    const colors = themes[theme];
    const parts = [];
    const head = 34;
    const columns = Math.min(2, figure.panels.length);
    let top = head;
    for (let k = 0; k < figure.panels.length; k += columns) {
      let height = 0;
      for (let column = 0; column < columns && k + column < figure.panels.length; ++column) {
        const panel = figure.panels[k + column];
        let text = await view(figure, panel, width, theme, "none").toSVG();
        const size = text.match(/^<svg[^>]*? width="([\d.]+)" height="([\d.]+)"/);
        // Gradients and clips of several panels must not share their names.
        text = text.replace(/(\bid="|url\(#|href="#)/g, `$1p${k + column}-`);
        const left = column * (width + 20);
        const title = panel.title ? 20 : 0;
        if (title)
          parts.push(`<text x="${left + 10}" y="${top + 14}" font-family='${font}' font-size="12" ` +
            `fill="${colors.faint}">${escaped(panel.title)}</text>`);
        parts.push(text.replace("<svg", `<svg x="${left}" y="${top + title}"`));
        height = Math.max(height, Number(size[2]) + title);
      }
      top += height + 12;
    }
    const whole = columns * (width + 20) - 20;
    for (const note of figure.notes)
      for (const line of wrapped(note, Math.floor((whole - 20) / 6))) {
        parts.push(`<text x="10" y="${top + 8}" font-family='${font}' font-size="11" ` +
          `fill="${colors.faint}">${escaped(line)}</text>`);
        top += 15;
      }
    const text = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
      `width="${whole}" height="${Math.ceil(top)}" viewBox="0 0 ${whole} ${Math.ceil(top)}" ` +
      `role="img"><title>${escaped(figure.title)}</title>` +
      `<desc>${escaped(figure.description)}</desc>` +
      `<rect width="100%" height="100%" fill="${colors.background}"/>` +
      `<text x="10" y="22" font-family='${font}' font-size="15" font-weight="600" ` +
      `fill="${colors.text}">${escaped(figure.title)}</text>${parts.join("")}</svg>\n`;
    return text.replace(forbidden, "\ufffd");
  };

  return { view, svg, valueOf, lengthOf };
})();
