"use strict";
// Asks for /status.json and shows its figures. What comes from elsewhere goes into the page as text, never as markup.
(() => {
  const GAP = 2000;
  const MOST_MOMENTS = 12;
  const LATE = 10;
  const TITLES = {
    running: "Crawl at work",
    paused: "Crawl paused",
    finished: "Crawl finished",
    stopped: "Crawl stopped",
  };
  const BUTTONS = { running: ["/pause", "/stop"], paused: ["/resume", "/stop"] };
  const NOTES = {
    running: "A stopped crawl is resumed by the same command.",
    paused: "Requests in flight end; no others begin until you resume.",
  };

  const find = (id) => document.getElementById(id);

  // Figures for people.
  const thousands = (number) => number.toLocaleString("en-US");
  const counted = (number, one, many) => `${thousands(number)} ${number === 1 ? one : many}`;
  const percent = (share) => (share === null ? "–" : `${(share * 100).toFixed(1)}%`);
  const bytes = (size) => {
    const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if (size < 1024) return `${size} B`;
    let [value, unit] = [size / 1024, 0];
    for (; value >= 1023.95 && unit + 1 < units.length; unit += 1) value /= 1024;
    return `${value.toFixed(1)} ${units[unit]}`;
  };
  const rounded = (value) => Math.round(value * 10) / 10;
  const time = (seconds) => {
    if (seconds < 0.05) return "0";
    if (seconds < 120) return `${rounded(seconds)} s`;
    return seconds < 7200 ? `${rounded(seconds / 60)} min` : `${rounded(seconds / 3600)} h`;
  };
  const short = (value) => {
    if (value >= 1e6) return `${rounded(value / 1e6)}M`;
    return value >= 1e3 ? `${rounded(value / 1e3)}k` : `${rounded(value)}`;
  };
  // Characters that are not seen, or that change how a line reads.
  const visible = (text) =>
    text.replace(/[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
      (hidden) => `\\u{${hidden.codePointAt(0).toString(16)}}`);

  // Elements.
  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const html = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
  const svg = (name, attributes, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  const link = (url) => {
    const [text, most] = [visible(url), 160];
    const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    const isPlain = /^https?:\/\/[\x21-\x7e]*$/.test(url);
    return isPlain ? html("a", { href: url, rel: "noreferrer" }, shown) : shown;
  };

  // Cells of a table, by what they hold.
  const name = (text) => html("th", { scope: "row" }, visible(text));
  const words = (text) => html("td", { class: "text" }, visible(text));
  const figure = (text) => html("td", {}, text);
  const url = (text) => html("td", { class: "url mono" }, ...(text ? [link(text)] : []));
  const heat = (share) => {
    const cell = html("td", { class: "heat" }, percent(share));
    cell.style.setProperty("--share", (share * 0.55).toFixed(3));
    return cell;
  };

  // What is the same stays, and with it the focus and what is selected.
  const replace = (id, children) => {
    const fresh = find(id).cloneNode();
    fresh.append(...children);
    if (!fresh.isEqualNode(find(id))) find(id).replaceChildren(...fresh.childNodes);
  };
  const fill = (id, rows) => {
    const table = find(id).closest("table");
    const labels = [...table.querySelectorAll("thead th")].map((label) => label.textContent);
    const stacked = (cell, place) => {
      cell.setAttribute("data-label", labels[place]);
      cell.classList.add("wide");
    };
    if (table.className === "stack") rows.forEach((cells) => cells.forEach(stacked));
    replace(id, rows.map((cells) => html("tr", {}, ...cells)));
  };

  const cards = (now) => {
    const perUrl = now.frontier_bytes && now.seen ? Math.floor(now.frontier_bytes / now.seen) : 0;
    const perPage = now.index.records ? Math.floor(now.index.list_bytes / now.index.records) : 0;
    const pages = counted(now.index.records, "page", "pages");
    const all = [
      [now.pages_per_second.toFixed(1), "pages per second"],
      [thousands(now.queued), `URLs queued on ${counted(now.origins, "site", "sites")}`],
      [thousands(now.leased), "in flight"],
      [percent(now.duplicate_rate), "of the pages compared are duplicates"],
      [thousands(now.requests), `requests, ${bytes(now.bytes)} received`],
      [bytes(now.memory_bytes), "of memory"],
      [bytes(now.index.bytes), `of this, the index of ${pages}, ${bytes(perPage)} of index and common text per page`],
      [bytes(now.frontier_bytes), `of this, the frontier, ${bytes(perUrl)} per URL`],
      [thousands(now.seen), `URLs seen, ${thousands(now.deferred)} deferred`],
    ];
    return all.map(([value, what]) => html("div", { class: "card" }, html("b", {}, value), html("span", {}, what)));
  };

  // Plots: width, the frame of the axes, and dashes, so that lines differ by more than color.
  const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 320, 44, 14, 24, 40];
  const DASHES = ["none", "7 4", "2 3", "10 3 2 3", "4 2"];

  const roundUp = (value) => {
    const unit = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 4, 5, 8, 10].map((step) => step * unit).find((end) => end >= value) ?? value;
  };
  // Round moments from 0 on whose labels fit.
  const moments = (end) => {
    const steps = [0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600, 10800];
    const step = steps.find((step) => step * 6 >= end) ?? Math.ceil(end / 86400) * 21600;
    return Array.from({ length: Math.floor((end * 0.96) / step) + 1 }, (_, place) => place * step);
  };
  const levels = (high) => {
    const leading = Math.round(high / 10 ** Math.floor(Math.log10(high)));
    const steps = [1, 5, 10].includes(leading) ? 5 : 4;
    return Array.from({ length: steps + 1 }, (_, place) => (high * place) / steps);
  };

  // Draws lines of points. Their axis ends at `most`, or at the highest value.
  const plot = ({ caption, unit, lines, most }, end) => {
    const high = most ?? roundUp(Math.max(1, ...lines.flatMap((line) => line.points.map(([, value]) => value))));
    const x = (value) => (LEFT + (Math.min(value, end) / end) * (WIDTH - LEFT - RIGHT)).toFixed(1);
    const y = (value) => (HEIGHT - BOTTOM - (Math.min(value, high) / high) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
    const text = (x, y, anchor, ...words) => svg("text", { x, y, "text-anchor": anchor }, ...words);
    const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 18}`, role: "img" }, svg("title", {}, caption));
    for (const level of levels(high)) {
      drawing.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(level), y2: y(level) }));
      drawing.append(text(LEFT - 6, Number(y(level)) + 4, "end", short(level)));
    }
    for (const moment of moments(end)) drawing.append(text(x(moment), HEIGHT - BOTTOM + 16, "middle", time(moment)));
    drawing.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", "since the start of this run"));
    drawing.append(text(LEFT, TOP - 10, "start", unit));
    lines.forEach(({ label, style, points }, place) => {
      const stroke = { class: "curve", stroke: `var(--c${style})`, "stroke-dasharray": DASHES[style] };
      const [left, top] = [LEFT + (place * (WIDTH - LEFT - RIGHT)) / 3, HEIGHT + 12];
      drawing.append(
        svg("polyline", { ...stroke, points: points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") }),
        svg("path", { ...stroke, d: `M${left} ${top - 4}h26` }),
        text(left + 32, top, "start", label),
      );
    });
    return html("figure", {}, html("figcaption", {}, caption), drawing);
  };

  // The share of duplicates among the pages compared of late; counters may fall when verdicts are revised.
  const ratesOfLate = (samples) =>
    samples.slice(1).flatMap((sample, place) => {
      const before = samples[Math.max(0, place + 1 - LATE)];
      const compared = sample.compared - before.compared;
      const duplicates = Math.min(Math.max(0, sample.duplicates - before.duplicates), compared);
      return compared > 0 ? [[sample.elapsed_seconds, (100 * duplicates) / compared]] : [];
    });

  const plots = (samples) => {
    const of = (value) => samples.map((sample) => [sample.elapsed_seconds, value(sample)]);
    const rated = samples.filter((sample) => sample.duplicate_rate !== null);
    const rates = rated.map((sample) => [sample.elapsed_seconds, 100 * sample.duplicate_rate]);
    const all = [
      ["Pages per second", "pages/s", [["pages per second", 0, of((sample) => sample.pages_per_second)]]],
      ["URLs queued", "URLs", [["queued", 2, of((sample) => sample.queued)]]],
      ["Duplicates among the pages compared", "%", [["so far", 0, rates], ["recent", 1, ratesOfLate(samples)]], 100],
      ["Memory in use", "MiB", [["MiB", 4, of((sample) => sample.memory_bytes / 1048576)]]],
    ];
    const end = Math.max(1, samples.at(-1)?.elapsed_seconds ?? 0);
    const line = ([label, style, points]) => ({ label, style, points });
    return all.map(([caption, unit, lines, most]) => plot({ caption, unit, lines: lines.map(line), most }, end));
  };

  const momentRows = (samples) => {
    const step = Math.max(1, Math.ceil(samples.length / MOST_MOMENTS));
    // From the last one backwards, so that the last is always included.
    const shown = samples.filter((_, place) => (samples.length - 1 - place) % step === 0);
    return shown.map((sample) => [
      name(time(sample.elapsed_seconds)),
      figure(sample.pages_per_second.toFixed(1)),
      figure(thousands(sample.queued)),
      figure(thousands(sample.compared)),
      figure(percent(sample.duplicate_rate)),
      figure(bytes(sample.memory_bytes)),
    ]);
  };

  const waitingRows = (now) =>
    now.waiting.map((site) => {
      const due = site.due_in_seconds === 0 ? "–" : time(site.due_in_seconds);
      return [name(site.origin), words(site.why), figure(due), figure(thousands(site.queued))];
    });

  const controls = (now) => {
    const shown = BUTTONS[now.state] ?? ["/close"];
    for (const form of document.querySelectorAll(".controls form")) {
      form.hidden = now.stopping || !shown.includes(form.getAttribute("action"));
    }
    const note = find("note");
    if (!note) return;
    note.textContent = now.stopping
      ? "Stopping: requests in flight may end. The same command resumes the crawl."
      : NOTES[now.state] ?? "";
  };

  const show = (now) => {
    const [recent, failures] = [now.recent ?? [], now.failures ?? []];
    const all = Object.values(now.outcomes).reduce((sum, count) => sum + count, 0) || 1;
    document.title = `ndcrawl: ${now.pages_per_second.toFixed(1)} pages/s, ${thousands(now.queued)} queued`;
    find("title").textContent = TITLES[now.state];
    find("head").textContent = `${now.head}, as of ${now.at.split(".")[0].replace("T", " ")} UTC`;
    controls(now);
    replace("cards", cards(now));
    replace("plots", plots(now.history));
    fill("moments", momentRows(now.history));
    const others = now.origins > now.waiting.length ? "Those with the longest queues" : "All of them, the longest queue first";
    find("longest").textContent = now.waiting.length ? others : "No URL is queued";
    fill("waiting", waitingRows(now));
    const counts = Object.entries(now.outcomes);
    fill("outcomes", counts.map(([outcome, count]) => [name(outcome), figure(thousands(count)), heat(count / all)]));
    fill("recent", recent.map((line) =>
      [url(line.url), words(line.outcome), words(line.reason ?? ""), url(line.duplicate_of)]));
    find("failed").textContent = failures.length ? "In this run, the newest first" : "No URL has failed in this run";
    fill("failures", failures.map((line) => [url(line.url), words(line.reason ?? ""), words(line.detail ?? "")]));
  };

  const look = async () => {
    if (!document.hidden) {
      let now = null;
      try {
        const answer = await fetch("/status.json", { cache: "no-store" });
        now = answer.ok ? await answer.json() : null;
      } catch {
        // The figures stay, and a line says so.
      }
      if (now !== null) show(now);
      find("lost").hidden = now !== null;
    }
    setTimeout(look, GAP);
  };

  document.addEventListener("DOMContentLoaded", look);
})();
