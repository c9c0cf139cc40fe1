'use strict';
/* The page is a view of the gnncc-report/1 inside it: it looks things up, adds nothing. */

// ---- the document ----

// Lists of like objects are stored as tables {count, all, columns}; page.c says what the marks at the end of a key mean.
const packed = JSON.parse(document.getElementById('report').textContent);
const textAt = place => typeof packed.texts[place] === 'string' ? packed.texts[place] : packed.texts[place].map(textAt).join(' ');
const textOf = v => Array.isArray(v) ? v.map(textOf) : v ? textAt(v) : null;
function column(list, marks) {
  let sum = 0;
  if (marks.includes('*')) list = list.flatMap((v, i) => i % 2 ? [] : Array(list[i + 1]).fill(v));
  if (marks.includes('+')) list = list.map(v => sum += v);
  return list.map(marks.includes('~') ? ns => ns / 1e9 : marks.includes('$') ? textOf : unpack);
}
function unpack(x) {
  if (Array.isArray(x)) return x.map(unpack);
  if (x === null || typeof x !== 'object') return x;
  if (!x.columns) return Object.fromEntries(Object.entries(x).map(([key, v]) => [key, unpack(v)]));
  const all = unpack(x.all), rows = Array.from({ length: x.count }, () => ({ ...all }));
  for (const [name, list] of Object.entries(x.columns)) {
    const [, key, marks] = name.match(/^(.*?)([$~+*]*)$/);
    column(list, marks).forEach((v, i) => { if (v !== null) rows[i][key] = v; });
  }
  return rows;
}
const report = unpack(packed.report);
const isTraining = report.training_steps > 0;
const steps = isTraining ? report.steps.slice(0, report.training_steps) : report.steps;
const memory = report.memory.filter(row => row.step <= steps.length);
const device = report.machine.device;
const valueNamed = new Map(report.values.map(v => [v.value, v]));
const hasPieces = report.values.some(v => v.group), pieceSizes = sizesOf(report.values), decided = treeOf(report.values);
const groupNamed = new Map(report.values.filter(v => v.group).map(v => [v.value, v.group]));
for (const m of report.measured ? report.measured.steps : []) if (report.steps[m.step - 1]) report.steps[m.step - 1].measured = m;
const estimatedSeconds = isTraining ? report.epoch.seconds : report.epoch.evaluation_seconds;
const measuredSeconds = report.measured ? (isTraining ? report.measured.epoch_s : report.measured.evaluation_s) : 0;

// ---- small tools ----

const $ = id => document.getElementById(id);
const maker = create => (name, attributes = {}, ...children) => {
  const node = create(name);
  for (const [key, v] of Object.entries(attributes)) if (v !== undefined && v !== false) node.setAttribute(key, v === true ? '' : v);
  node.append(...children.filter(c => c !== undefined && c !== null));
  return node;
};
const h = maker(name => document.createElement(name));
const s = maker(name => document.createElementNS('http://www.w3.org/2000/svg', name));

// Halves to the even digit, as printf does: 56.25 is 56.2 here and in every text.
function tenths(n) {
  const low = Math.floor(n * 10), isHalf = n * 10 - low === 0.5;
  return ((isHalf ? low + low % 2 : Math.round(n * 10)) / 10).toFixed(1);
}

function bytes(n, digits = tenths) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let u = 0;
  while (Math.abs(n) >= 1024 && u < 4) { n /= 1024; u++; }
  return u ? `${digits(n)} ${units[u]}` : `${n} B`;
}
// What is needed, rounded up: with a budget of what is told it fits.
const needed = n => bytes(n, part => (Math.ceil(part * 10) / 10).toFixed(1));
const unit = estimatedSeconds >= 10 ? ['s', 1] : estimatedSeconds >= 1e-3 ? ['ms', 1e3] : ['us', 1e6];
const time = (seconds, digits = 3) => `${(seconds * unit[1]).toFixed(digits)} ${unit[0]}`;
const threeDigits = n => Math.abs(n) >= 1000 ? Math.round(n) : Number(n.toPrecision(3)); // or all before the point
const shortTime = seconds => `${threeDigits(seconds * unit[1])} ${unit[0]}`;
const added = seconds => seconds === 0 ? '0' : (seconds > 0 ? '+' : '−') + shortTime(Math.abs(seconds));
const rate = perSecond => perSecond >= 1e9 ? `${(perSecond / 1e9).toFixed(2)} GB/s` : `${(perSecond / 1e6).toFixed(1)} MB/s`;
const roleOf = step => !step.to ? step.phase : step.to === 'device' ? 'in' : 'out';
const roleNames = { forward: 'forward', backward: 'backward', recompute: 'recompute', update: 'update', eval: 'evaluation', exchange: 'exchange', out: 'moving out', in: 'moving in', wait: 'waiting' };
const kinds = ['graph', 'features', 'weights', 'optimizer', 'activation', 'gradient', 'scratch', 'gaps'];
const kindNames = { gaps: 'gaps between blocks' };

function table(caption, columns, rows, onRow) {
  const cell = (row, [name, get, kind]) => h('td', { class: kind, 'data-label': name }, ...[get(row)].flat().filter(v => v !== ''));
  const body = h('tbody', {}, ...rows.map(row => {
    const tr = h('tr', { ...(onRow ? { tabindex: 0 } : {}), ...(row.id ? { id: row.id } : {}) }, ...columns.map(c => cell(row, c)));
    if (onRow) {
      tr.addEventListener('click', () => onRow(row, tr));
      tr.addEventListener('keydown', e => { if (e.key === 'Enter') onRow(row, tr); });
    }
    return tr;
  }));
  return h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, ...columns.map(([name, , kind]) => h('th', { scope: 'col', class: kind === 'n' ? 'n' : undefined }, name)))), body);
}

// Scrolls within a box, so that the page stays where it is.
function showIn(box, node) {
  box.scrollTop = node.offsetTop - box.clientHeight / 3;
}

// ---- the head ----

function drawHead() {
  const title = `${report.model} on ${report.data}`;
  document.title = title;
  $('title').textContent = title;
  const d = report.tiers.device;
  $('verdict').textContent = `${report.fits ? 'fits' : 'does not fit'} · target ${report.target} · ${device} ${needed(d.peak_bytes)} of ${needed(d.budget_bytes)} · ` +
    `${time(estimatedSeconds, 1)} per ${isTraining ? 'epoch' : 'evaluation'} estimated` + (measuredSeconds ? ` · ${time(measuredSeconds, 1)} measured` : '');
}

function bar(name, parts, whole, text) {
  const box = h('div', {});
  for (const [kind, amount, what] of parts) {
    if (!(amount > 0)) continue;
    box.append(s('svg', { style: `width:${100 * amount / whole}%`, 'aria-hidden': true }, s('title', {}, what), s('rect', { class: kind, width: '100%', height: '100%' })));
  }
  return h('div', { class: 'bar' }, h('span', {}, name), box, h('span', {}, text));
}

// One bar of time; estimate and measurement have one scale.
function drawSplit(name, parts, seconds) {
  const whole = Math.max(estimatedSeconds, measuredSeconds), shown = parts.filter(p => p[1] > 0 || p[0] === 'wait');
  $('split').append(bar(name, parts.map(([kind, t, what]) => [kind, t, `${what} ${time(t)}`]), whole, `${shortTime(seconds)} = ` + shown.map(([, t, what]) => `${shortTime(t)} ${what}`).join(' + ')));
}

function measuredParts() {
  const ran = phases => steps.filter(o => o.lane === 'compute' && o.measured && phases(o.phase)).reduce((sum, o) => sum + o.measured.seconds, 0);
  const own = [['computing', ran(p => p !== 'wait' && p !== 'recompute'), 'compute'], ['recompute', ran(p => p === 'recompute'), 'recomputing'], ['wait', ran(p => p === 'wait'), 'waiting for transfers']];
  const rest = measuredSeconds - own.reduce((sum, p) => sum + p[1], 0);
  return rest > measuredSeconds / 1000 ? own.concat([['idle', rest, 'between the steps']]) : own;
}

// What the way to the SSD takes of the host's budget.
const stagingOnHost = () => report.tiers.host.budget_bytes > 0 ? report.tiers.staging_bytes || 0 : 0;

function drawBars() {
  const peakRow = report.memory.find(row => row.step >= report.peak_step) || {};
  for (const tier of ['device', 'host', 'ssd']) {
    const { peak_bytes: used, budget_bytes: budget } = report.tiers[tier], staging = tier === 'host' ? stagingOnHost() : 0;
    if (!budget && !used) continue;
    const whole = Math.max(used + staging, budget), parts = tier !== 'device' ? [[tier, used, `${needed(used)}`], ['scratch', staging, `staging for the SSD ${needed(staging)}`]] : kinds.map(kind => [kind, peakRow[kind] || 0, `${kindNames[kind] || kind} ${bytes(peakRow[kind] || 0)}`]);
    $('tiers').append(bar(tier === 'device' ? device : tier, parts, whole, `${needed(used)} of ${needed(budget)}` + (tier === 'device' ? `, peak at step ${report.peak_step}` : staging ? `, and ${needed(staging)} of staging for the SSD` : '')));
  }
  const e = report.epoch, seconds = estimatedSeconds;
  const parts = isTraining ? [['computing', e.compute_seconds, 'compute'], ['recompute', e.recompute_seconds, 'recomputing'], ['wait', e.wait_seconds, 'waiting for transfers'], ['slowed', e.slowed_seconds || 0, 'slower beside them']] : [['computing', seconds, 'compute']];
  drawSplit(measuredSeconds ? 'estimated' : 'time', parts, seconds);
  if (measuredSeconds) drawSplit('measured', measuredParts(), measuredSeconds);
  const others = report.lanes.filter(l => e.bound && l.lane !== e.bound.lane).map(l => `${l.lane} ${shortTime(l.busy_seconds)}`);
  if (e.bound) $('bound').textContent = `Bound by ${e.bound.lane}, busy for ${shortTime(e.bound.busy_seconds)}${others.length ? `, beside ${others.join(', ')}` : ''}: the epoch is ${e.bound.ratio.toFixed(2)} times that`;
  const i = report.instead || {}, texts = [];
  if (i.keep_everything) texts.push(`keep everything: ${shortTime(i.keep_everything.seconds)}, needs ${needed(i.keep_everything.bytes)}`);
  if (i.recompute_everything) texts.push(`recompute everything: ${shortTime(i.recompute_everything.seconds)}, needs ${needed(i.recompute_everything.bytes)}`);
  if (i.least) texts.push(`least ${i.least.of ? `with ${i.least.of}` : 'found'}${i.least.sketched ? ', sketched, about' : ''}: ${needed(i.least.bytes)} at ${shortTime(i.least.seconds)}`);
  if (i.step_up && i.step_up.sketched) texts.push(`sketched: about ${shortTime(seconds - i.step_up.saves_seconds)} with ${needed(i.step_up.bytes)}`);
  $('instead').textContent = texts.length ? `Instead — ${texts.join(' · ')}` : '';
}

// ---- what to change ----

// As it is typed behind --budget: rounded up, so that with it the plan fits.
const typed = n => n < 1024 ? `${n}B` : needed(n).replace(' ', '');
const per = isTraining ? 'epoch' : 'evaluation';

// {write, gives}: the program's advice, or where the document has none what its alternatives say; and what the sweep says of less memory.
function changesOf() {
  const list = report.advice ? [...report.advice.list] : [], i = report.advice ? {} : report.instead || {}, { sweep } = report, now = estimatedSeconds, add = (write, gives) => list.push({ write, gives });
  if (i.step_up && !i.step_up.sketched) add(`--budget ${device}=${typed(i.step_up.bytes)}`, `${shortTime(now - i.step_up.saves_seconds)} per ${per} (now ${shortTime(now)})`);
  if (i.keep_everything && now - i.keep_everything.seconds > now / 100 && i.keep_everything.bytes > report.tiers.device.budget_bytes)
    add(`--budget ${device}=${typed(i.keep_everything.bytes)}`, `keeps everything: ${shortTime(i.keep_everything.seconds)} per ${per} (now ${shortTime(now)})`);
  if (i.tf32) add('--precision=tf32', `${shortTime(i.tf32.seconds)} per ${per} (now ${shortTime(now)}); products round their factors`);
  if (i.nested) add('order = nested', `in the data block: ${shortTime(i.nested.seconds)} per ${per} (now ${shortTime(now)}), after ${threeDigits(i.nested.order_seconds)} s once to make the order`);
  if (i.without_pins && now - i.without_pins.seconds > now / 100) add('no pins', `without the fates in the plan block: ${shortTime(i.without_pins.seconds)} per ${per} (now ${shortTime(now)})`);
  const knee = sweep && sweep.points[sweep.knee], about = knee && knee.sketched ? 'about ' : '';
  if (knee && knee.needs_bytes < report.tiers.device.peak_bytes) add(`--budget ${device}=${typed(knee.needs_bytes)}`, `the best value of less memory: ${about}${shortTime(knee.seconds)} per ${per} in ${about}${needed(knee.needs_bytes)} (now ${shortTime(now)} in ${needed(report.tiers.device.peak_bytes)})`);
  return list;
}

function drawChanges() {
  const list = changesOf(), away = report.values.some(v => v.fate !== 'keep'), text = report.advice && report.advice.text ? report.advice.text : list.length ? '' : away ? 'nothing else was planned for this page; gnncc --plan with the same options says what would help' : isTraining ? 'nothing: everything is kept, and each kernel runs once' : '';
  $('change').hidden = !list.length && !text;
  $('change-text').textContent = text || '';
  $('change-text').hidden = !text;
  $('changes').append(...list.map(({ write, gives }) => h('li', {}, h('code', {}, write), ` ${gives}`)));
}

// ---- the timeline: one scale for all its drawings ----

const view = { from: 0, to: 1, mode: 'estimated', step: 0, value: '', line: 0, band: -1, everyValue: false, found: [] };
let wideNow = 0; // asking for it between changes of the page would lay it out each time
const gutter = () => wideNow < 560 ? 62 : hasPieces ? 150 : 104;
const width = () => wideNow;
const x = t => gutter() + (t - view.from) / (view.to - view.from) * (width() - gutter() - 10);
const timeAt = px => view.from + (px - gutter()) / (width() - gutter() - 10) * (view.to - view.from);
const whole = () => view.mode === 'estimated' ? estimatedSeconds : view.mode === 'measured' ? measuredSeconds : Math.max(estimatedSeconds, measuredSeconds);

// When a step runs: as estimated, or as measured.
function span(step, mode) {
  if (mode !== 'measured') return [step.start_seconds, step.start_seconds + step.seconds];
  return step.measured ? [step.measured.start_s, step.measured.start_s + step.measured.seconds] : null;
}
// It took time; of a run, a wait of at least a thousandth of the epoch: asking whether a copy is done takes time, too.
function isShown(step, mode) {
  const at = span(step, mode);
  return at !== null && at[1] > at[0] && !(mode === 'measured' && step.waits_for && at[1] - at[0] < measuredSeconds / 1000);
}
const modesShown = () => view.mode === 'both' ? ['estimated', 'measured'] : [view.mode];
const skyMode = () => view.mode === 'measured' ? 'measured' : 'estimated';
const rowOfStep = [];
memory.forEach(row => { for (let n = row.first_step; n <= row.step; n++) rowOfStep[n] = row; });
function rowSpan(row) {
  if (skyMode() === 'estimated') return [row.start_seconds, row.end_seconds];
  const before = row.first_step > 1 ? span(steps[row.first_step - 2], 'measured') : null, own = span(steps[row.step - 1], 'measured');
  return own ? [before ? Math.min(before[1], own[0]) : 0, own[1]] : [row.start_seconds, row.end_seconds];
}
// Of a step without a row, the step itself.
function spanAt(n) {
  const step = steps[Math.min(n, steps.length) - 1], row = rowOfStep[step.step];
  return row ? rowSpan(row) : span(step, skyMode()) || span(step, 'estimated');
}
const stepRange = (first, last) => [spanAt(first)[0], spanAt(last)[1]];

const lanes = report.lanes.map(l => l.lane);
const hasLayers = steps.some(o => o.layer);
// The first, the slowest and the last of several ranks: the steps at their times there.
const ranks = (report.ranks ? report.ranks.shown : []).map(({ rank, name, start_seconds: starts, seconds }) => ({ rank, name, steps: steps.map((o, i) => ({ ...o, start_seconds: starts[i], seconds: seconds[i], measured: undefined })) }));
const ranksShown = () => view.mode === 'measured' ? [] : ranks; // estimated
function rankText({ rank, name, steps: own }) {
  const computes = sum(own.filter(o => o.lane === 'compute' && !o.waits_for), o => o.seconds), end = Math.max(...own.map(o => o.start_seconds + o.seconds));
  return `rank ${rank}, the ${name}: computes ${threeDigits(computes * unit[1])} of ${shortTime(end)}`;
}
const HEADING = 22, LANE = 26, BOX = 20, TOP = hasLayers ? 38 : 22, MOST_BOXES = 400;

// Runs of one layer's kernels on the compute lane. A layer of a loop, and what is in a loop of a layer, is named with its turn from 0, "conv.2": it is told of how many.
const turnsOf = new Map();
for (const name of new Set(steps.map(o => o.layer)))
  for (let [, stem, turn] = (name || '').match(/^(.*)\.(\d+)$/) || []; stem; [, stem, turn] = stem.match(/^(.*)\.(\d+)$/) || []) turnsOf.set(stem, Math.max(turnsOf.get(stem) || 0, Number(turn) + 1));
function layerText(name) {
  const [, stem, turn] = name.match(/^(.*)\.(\d+)$/) || [];
  return stem && turnsOf.get(stem) > 1 ? `${layerText(stem)} ${Number(turn) + 1}/${turnsOf.get(stem)}` : name;
}
function layerRuns(mode) {
  const list = [];
  for (const o of steps) {
    const at = o.lane === 'compute' && !o.waits_for ? span(o, mode) : null, last = list[list.length - 1];
    if (!at) continue;
    if (last && last.layer === o.layer && last.isLeft === (o.phase !== 'backward')) last.to = at[1];
    else list.push({ layer: o.layer, isLeft: o.phase !== 'backward', from: at[0], to: at[1] });
  }
  return list.filter(run => run.layer);
}
function drawBrackets(node, y) {
  for (const run of layerRuns(skyMode())) {
    const left = Math.max(x(run.from), gutter()), right = Math.min(x(run.to), width() - 10), wide = right - left, full = layerText(run.layer), room = Math.floor((wide - 4) / 6.3);
    if (wide < 2) continue;
    node.append(s('g', { class: 'bracket', 'data-layer': run.layer }, s('title', {}, full), s('path', { d: `M${(left + .5).toFixed(1)} ${y + 15}v-3H${(right - .5).toFixed(1)}v3` }),
      ...(full.length <= room ? [s('text', { class: 'quiet', x: ((left + right) / 2).toFixed(1), y: y + 10, 'text-anchor': 'middle' }, full)] : [])));
  }
}

// Neighbours of one role become one box where there are too many to see.
function boxesOf(lane, mode, from = steps) {
  let list = [];
  for (const step of from) {
    if (step.lane !== lane || (from === steps && bandOfStep.has(step.step) && isClosed(bandOfStep.get(step.step), mode))) continue;
    const at = span(step, mode);
    if (!isShown(step, mode) || at[1] < view.from || at[0] > view.to) continue;
    list.push({ role: roleOf(step), from: at[0], to: at[1], first: step, last: step });
  }
  if (list.length <= MOST_BOXES) return list;
  const pixel = (view.to - view.from) / width(), merged = [];
  for (const b of list) {
    const a = merged[merged.length - 1];
    if (a && a.role === b.role && a.role !== 'wait' && b.from - a.to < pixel && a.to - a.from < 24 * pixel) { a.to = b.to; a.last = b.last; }
    else merged.push(b);
  }
  return merged;
}

function relatedTo(step) {
  if (!step) return new Set();
  const chain = report.steps.filter(o => (step.value && o.value === step.value) || o.step === step.decided_by || o.step === step.waits_for);
  return new Set(chain.map(o => o.step));
}

function drawBox(b, y, height, related, rank) {
  const left = Math.max(x(b.from), gutter()), right = Math.min(x(b.to), width() - 10), wide = Math.max(right - left, b.role === 'wait' ? 2 : 0.6), n = b.first.step;
  const classes = ['box', b.role, n === view.step ? 'chosen' : related.has(n) ? 'related' : '', view.line && b.first.line === view.line ? 'related' : '', view.found.includes(n) ? 'related' : ''];
  const group = [s('rect', { class: classes.join(' ').trim(), x: left.toFixed(2), y, width: wide.toFixed(2), height, 'data-step': n, 'data-last': b.last.step, 'data-rank': rank })];
  const many = b.last !== b.first, label = b.role === 'wait' ? `waits for ${b.first.waits_for}` : many ? `${b.last.step - n + 1} steps` : wide > 110 ? `${n} ${b.first.what}` : `${n}`;
  const room = Math.floor((wide - 6) / 6.1), text = b.role === 'wait' ? label : label.length <= room ? label : wide > 110 ? label.slice(0, room - 1) + '…' : '';
  const isTold = b.role === 'wait' ? wide > 70 || n === view.step : text && height > 12;
  const isPlain = ['forward', 'eval', 'update', 'exchange'].includes(b.role);
  if (b.role === 'wait' && wide < 8) group.push(s('path', { class: 'wait-mark', d: `M${left + wide / 2 - 4} ${y - 6}h8l-4 6z` }));
  if (isTold) group.push(s('text', { class: b.role === 'wait' ? 'on-wait' : b.role === 'backward' ? 'on-dark' : isPlain ? 'on-box' : 'on-pattern', x: (left + 3).toFixed(1), y: y + height / 2 + 4 }, text));
  return group;
}

function ticks() {
  const wanted = Math.max(2, (width() - gutter()) / 90), raw = (view.to - view.from) / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw), list = [];
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) list.push(t);
  return list;
}

// Forward, backward and update as shaded bands.
function bands(height, isNamed = false) {
  const list = [];
  for (const step of steps) {
    const at = span(step, skyMode());
    if (!['forward', 'backward', 'update', 'eval'].includes(step.phase) || !at) continue;
    const last = list[list.length - 1];
    if (last && last.phase === step.phase) last.to = at[1];
    else list.push({ phase: step.phase, from: last ? last.to : 0, to: at[1] });
  }
  return list.flatMap((b, i) => {
    const left = Math.max(x(b.from), gutter()), right = Math.min(x(b.to), width() - 10);
    if (right <= left) return [];
    return [s('rect', { class: i % 2 ? 'band odd' : 'band', x: left, y: 0, width: right - left, height })].concat(right - left > 60 && isNamed ? s('text', { class: 'quiet', x: left + 4, y: 11 }, roleNames[b.phase]) : []);
  });
}

// The box is for paper, which has another width and draws nothing anew.
function setSize(node, height) {
  node.setAttribute('height', height);
  node.setAttribute('viewBox', `0 0 ${node.clientWidth || width()} ${height}`);
}

function drawGantt() {
  const height = TOP + lanes.length * LANE + ranksShown().length * (HEADING + lanes.length * LANE) + 4, node = $('gantt'), related = relatedTo(report.steps[view.step - 1]);
  setSize(node, height);
  node.replaceChildren(...bands(height));
  for (const t of ticks()) node.append(s('path', { class: 'axis', d: `M${x(t)} 14V${height}` }), s('text', { class: 'quiet', x: x(t), y: 11, 'text-anchor': 'middle' }, Number((t * unit[1]).toPrecision(6))));
  node.append(s('text', { class: 'quiet', x: 4, y: 11 }, unit[0]));
  drawBrackets(node, 18);
  lanes.forEach((lane, i) => {
    const y = TOP + i * LANE;
    node.append(s('text', { x: 4, y: y + 14 }, lane));
    const rows = view.mode === 'both' ? [['estimated', 0, BOX / 2 - 0.5], ['measured', BOX / 2 + 0.5, BOX / 2 - 0.5]] : [[view.mode, 0, BOX]];
    for (const [mode, down, tall] of rows) {
      for (const k of lane === 'compute' ? allBands().keys() : [])
        node.append(...(isClosed(k, mode) ? drawBand(k, y + down, tall, mode, related) : drawOpenBand(k, y + down, tall, mode)));
      for (const b of boxesOf(lane, mode)) node.append(...drawBox(b, y + down, tall, related));
    }
  });
  ranksShown().forEach((rank, k) => {
    const top = TOP + lanes.length * LANE + k * (HEADING + lanes.length * LANE);
    node.append(s('text', { class: 'rank', x: 4, y: top + 12 }, rankText(rank)));
    lanes.forEach((lane, i) => {
      const y = top + HEADING + i * LANE;
      node.append(s('text', { x: wideNow < 560 ? 4 : 12, y: y + 14 }, lane));
      for (const b of boxesOf(lane, 'estimated', rank.steps)) node.append(...drawBox(b, y, BOX, related, rank.rank));
    });
  });
  drawArrows(node);
}

// From the step that decided the start of the chosen one; and along a moved value: made, out, in, used.
function drawArrows(node) {
  const step = report.steps[view.step - 1];
  if (!step || step.step > steps.length) return;
  const yOf = o => TOP + lanes.indexOf(o.lane) * LANE + BOX / 2, pairs = [];
  if (step.decided_by) pairs.push([report.steps[step.decided_by - 1], step]);
  const chain = step.value ? steps.filter(o => o.value === step.value && o.to) : [];
  const made = chain.length && steps.find(o => (o.writes || []).includes(step.value));
  const used = chain.length && steps.find(o => o.step > chain[chain.length - 1].step && (o.reads || []).includes(step.value));
  const road = [made, ...chain, used].filter(Boolean);
  road.slice(1).forEach((o, i) => pairs.push([road[i], o]));
  for (const [a, b] of pairs) {
    const from = span(a, skyMode()), to = span(b, skyMode());
    if (!from || !to) continue;
    const x1 = x(from[1]), x2 = x(to[0]), y1 = yOf(a), y2 = yOf(b), bend = Math.max(12, Math.abs(x2 - x1) / 3);
    if (Math.max(x1, x2) < gutter() || Math.min(x1, x2) > width()) continue;
    node.append(s('path', { class: 'arrow', d: `M${x1.toFixed(1)} ${y1}C${(x1 + bend).toFixed(1)} ${y1} ${(x2 - bend).toFixed(1)} ${y2} ${x2.toFixed(1)} ${y2}` }));
  }
}

// ---- memory under the same axis ----

const SKY = 130;
const skyTop = () => {
  const { peak_bytes: peak, budget_bytes: budget } = report.tiers.device;
  return 1.08 * (budget > 4 * peak || budget < peak ? peak : budget);
};

// Where more rows than pixels are in view, the fullest of each pixel stands for it.
function fullestOfPixels(rows) {
  if (rows.length < 2 * width()) return rows;
  const list = [], used = ({ row }) => row.device_bytes + (row.gaps || 0);
  for (const r of rows) {
    const last = list[list.length - 1];
    if (!last || Math.floor(x(r.at[0])) !== Math.floor(x(last.at[0]))) list.push({ row: r.row, at: [...r.at] });
    else { last.at[1] = r.at[1]; if (used(r) > used(last)) last.row = r.row; }
  }
  return list;
}

function drawSky() {
  const node = $('sky'), top = skyTop(), y = b => SKY - 2 - (SKY - 12) * b / top;
  setSize(node, SKY);
  node.replaceChildren(...bands(SKY, true));
  const rows = fullestOfPixels(memory.map(row => ({ row, at: rowSpan(row) })).filter(({ at }) => at[1] >= view.from && at[0] <= view.to && at[1] > at[0]));
  const base = rows.map(() => 0);
  for (const kind of kinds) {
    if (!rows.some(({ row }) => row[kind] > 0)) continue;
    let up = '', down = '';
    rows.forEach(({ row, at }, i) => {
      const l = Math.max(x(at[0]), gutter()).toFixed(2), r = Math.min(x(at[1]), width() - 10).toFixed(2), low = y(base[i]).toFixed(1);
      base[i] += row[kind] || 0;
      up += `${i ? 'L' : 'M'}${l} ${y(base[i]).toFixed(1)}H${r}`;
      down = `L${r} ${low}H${l}` + down;
    });
    node.append(s('path', { class: kind, d: up + down + 'Z', 'data-kind': kind }));
  }
  for (const run of layerRuns(skyMode()))
    if (run.from > view.from && x(run.to) - x(run.from) >= 8) node.append(s('path', { class: 'axis layer-line', 'data-layer': run.layer, d: `M${x(run.from).toFixed(1)} 14V${SKY}` }));
  const { budget_bytes: budget, peak_bytes: peak } = report.tiers.device;
  if (budget <= top) node.append(s('path', { class: 'budget', d: `M${gutter()} ${y(budget)}H${width() - 10}` }), s('text', { x: 4, y: Math.max(10, y(budget) + 4) }, needed(budget)));
  else node.append(s('text', { x: 4, y: y(peak) + 4 }, needed(peak)));
  node.append(s('text', { class: 'quiet', x: 4, y: Math.max(10, y(Math.min(budget, peak, top))) + 18 }, budget <= top ? 'budget' : 'peak'));
  const measured = report.measured && report.measured.device_peak_bytes;
  if (measured && view.mode !== 'estimated') node.append(s('path', { class: 'measured-peak', d: `M${gutter()} ${y(measured)}H${width() - 10}` }), s('text', { class: 'quiet', x: width() - 14, y: y(measured) - 3, 'text-anchor': 'end' }, `measured peak ${needed(measured)}`));
  node.append(s('path', { class: 'axis', d: `M${gutter()} ${y(0)}H${width() - 10}` }));
}

// ---- fate strips: where each value is, when ----

function stripsShown() {
  if (view.everyValue) return decided;
  const given = decided.filter(v => v.fate !== 'keep'), kept = decided.filter(v => v.fate === 'keep');
  return given.slice(0, 24).concat(kept.slice(0, Math.max(0, 10 - given.length)));
}

// Where each value stays, and from when to when.
const staysNamed = new Map();
for (const o of [...report.homes, ...report.blocks.filter(b => b.kind !== 'scratch')]) {
  if (!o.value || o.first_step > steps.length) continue;
  if (!staysNamed.has(o.value)) staysNamed.set(o.value, []);
  staysNamed.get(o.value).push({ tier: o.how === undefined ? o.tier : o.how === 'recomputed' ? 'recomputed' : 'device', first: o.first_step, last: Math.min(o.last_step, steps.length) });
}

function drawStrips() {
  const ROW = 17, NAME = 13, list = withOpened(stripsShown()), node = $('strips');
  const indentOf = depth => hasPieces ? 14 + 10 * depth : 0, roomOf = (wide, depth) => Math.floor((wide - 6 - indentOf(depth)) / 6.3);
  /* On a narrow screen a name that is longer than its column has a line of its own. */
  const nameHeight = list.map(({ node: v, depth }) => wideNow < 560 && labelled(v).length > roomOf(gutter(), depth) ? NAME : 0);
  const height = list.length * ROW + nameHeight.reduce((a, b) => a + b, 0) + 6;
  let below = 3;
  setSize(node, height);
  node.replaceChildren(...(list.length ? bands(height) : []));
  list.forEach(({ node: v, depth }, i) => {
    const top = below, y = top + nameHeight[i], indent = indentOf(depth), room = roomOf(nameHeight[i] ? width() : gutter(), depth), full = labelled(v), name = full.length > room ? full.slice(0, room - 1) + '…' : full;
    below = y + ROW;
    const told = v.children ? `${v.label}: ${fatesText(v)}, ${bytes(v.bytes)}` : `${v.value}: ${v.fate}, ${bytes(v.bytes)}`;
    const row = s('g', { class: 'strip-row', 'data-value': v.value }, s('title', {}, told), s('rect', { class: v.value === view.value ? 'row chosen' : 'row', x: 0, y: top, width: width(), height: below - top }), s('text', { x: 4 + indent, y: top + 12 }, name));
    if (v.children) {
      const stays = v.pieces.flatMap(p => (staysNamed.get(p.value) || []).map(stay => ({ tier: stay.tier, at: stepRange(stay.first, stay.last), bytes: p.bytes })));
      row.append(s('text', { class: 'opener-mark', 'data-open': v.value, x: 4 + 10 * depth, y: top + 12 }, opened.has(v.value) ? '▾' : '▸'), s('path', { class: 'middle', d: `M${gutter()} ${y + 10}H${width() - 10}` }), ...profileOf(v, stays, y));
    }
    for (const p of v.children ? [] : staysNamed.get(v.value) || []) {
      const [from, to] = stepRange(p.first, p.last), left = Math.max(x(from), gutter()), right = Math.min(x(to), width() - 10);
      const isAway = p.tier === 'host' || p.tier === 'ssd';
      if (right > left) row.append(s('rect', { class: p.tier, x: left.toFixed(2), y: y + (isAway ? 9 : 2), width: (right - left).toFixed(2), height: isAway ? 5 : 9 }));
    }
    node.append(row);
  });
  $('more-strips').hidden = decided.length <= stripsShown().length && !view.everyValue;
}

// ---- address by time ----

const blockSizes = sizesOf(report.blocks);

function drawArena() {
  if (!$('addresses').open) return;
  const HEIGHT = 220, node = $('arena'), top = report.tiers.device.peak_bytes, y = b => HEIGHT - 2 - (HEIGHT - 8) * b / top;
  setSize(node, HEIGHT);
  node.replaceChildren(s('text', { x: 4, y: 12 }, needed(top)), s('text', { class: 'quiet', x: 4, y: 26 }, 'of addresses'));
  for (const b of report.blocks) {
    if (b.first_step > steps.length) continue;
    const [from, to] = stepRange(b.first_step, b.last_step), left = Math.max(x(from), gutter()), right = Math.min(x(to), width() - 10);
    if (right <= left) continue;
    node.append(s('rect', { class: `${b.kind} box${b.group ? ' piece' : ''}${b.value && isOf(b.value, view.value) ? ' chosen' : ''}`, x: left.toFixed(1), y: y(b.offset + b.bytes).toFixed(1), width: (right - left).toFixed(1), height: Math.max(0.5, y(b.offset) - y(b.offset + b.bytes)).toFixed(1), 'data-value': b.value },
      s('title', {}, `${b.group ? `${b.group}, ${whichPiece(b, pieceSizes.get(b.group) || blockSizes.get(b.group))}` : b.name}, ${bytes(b.bytes)}, steps ${b.first_step} to ${b.last_step}`)));
  }
}

function draw() {
  wideNow = $('timeline').clientWidth;
  drawGantt();
  drawSky();
  drawStrips();
  drawArena();
  drawDag();
  drawCurve();
  for (const b of document.querySelectorAll('#modes button')) b.setAttribute('aria-pressed', view.mode[0] === b.dataset.key);
}
let isDue = false;
function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; draw(); });
}

function drawLegend() {
  const swatch = (kind, text) => h('span', {}, s('svg', { 'aria-hidden': true }, s('rect', { class: kind, width: 14, height: 10 })), text);
  const roles = [...new Set(steps.filter(o => o.seconds > 0).map(roleOf))];
  const stays = kinds.filter(kind => memory.some(row => row[kind] > 0) || (kind === 'scratch' && stagingOnHost()));
  const tiers = ['host', 'ssd'].filter(t => report.tiers[t].peak_bytes > 0 || report.homes.some(o => o.tier === t));
  const isMadeAgain = roles.includes('recompute') || report.values.some(v => v.fate === 'recompute'), given = (list, names) => list.map(k => swatch(k, names[k] || k));
  const row = (name, swatches) => h('div', {}, h('b', {}, name), ...swatches);
  $('legend').append(row('time', [swatch('computing', 'all computing'), ...(report.epoch.slowed_seconds ? [swatch('slowed', 'slower beside copies')] : []), ...(measuredSeconds ? [swatch('idle', 'between the steps')] : [])]),
    row('steps', given(roles.filter(r => r !== 'recompute'), roleNames)), ...(isMadeAgain ? [row('both', [swatch('recompute', 'computed again')])] : []), row('memory', given(stays, kindNames)),
    row('values', [swatch('device', `on ${device}`), ...tiers.map(t => swatch(t, `on ${t}`)), ...(hasPieces ? [swatch('mixed', 'mixed'), 'a value in pieces: the share of it on the device upwards, elsewhere downwards'] : [])]));
}

// ---- the chosen step, value, line ----

function describeStep(step) {
  const parts = [], link = report.machine.links.find(l => l.lane === step.lane);
  parts.push(h('b', {}, `step ${step.step}`), ` ${step.what}`);
  const facts = [`${step.lane}, ${roleNames[roleOf(step)] || step.phase}`];
  if (step.layer) facts.push(`layer ${layerText(step.layer)}`);
  if (step.line) facts.push(h('a', { href: `#line-${step.line}` }, `line ${step.line}`));
  facts.push(`starts ${time(step.start_seconds)}, takes ${time(step.seconds)} estimated`);
  if (step.measured) facts.push(`${time(step.measured.start_s)}, ${time(step.measured.seconds)} measured` + (step.seconds > 1e-9 ? ` (${(step.measured.seconds / step.seconds).toFixed(2)}×)` : ''));
  if (step.step <= steps.length) for (const { rank, steps: own } of ranks) facts.push(`rank ${rank}: starts ${time(own[step.step - 1].start_seconds)}, takes ${time(own[step.step - 1].seconds)}`);
  if (step.bytes) facts.push(bytes(step.bytes) + (step.seconds > 0 ? ` at ${rate(step.bytes / step.seconds)}` : '') + (link ? ` of the link's ${rate(link.bandwidth)}` : ''));
  if (step.flops > 0 && step.seconds > 0) facts.push(`${(step.flops / step.seconds / 1e9).toFixed(1)} GFLOP/s`);
  facts.push(`${device} holds ${bytes(step.device_bytes)}`);
  if (step.waits_for) facts.push(`it waits for step ${step.waits_for}: ${report.steps[step.waits_for - 1].what}`);
  if (step.decided_by) facts.push(`its start was decided by step ${step.decided_by}: ${report.steps[step.decided_by - 1].what}`);
  const names = [['reads', step.reads], ['writes', step.writes], ['frees', step.frees]].filter(([, list]) => list && list.length).map(([what, list]) => `${what} ${list.join(', ')}`);
  return [h('p', {}, ...parts), h('p', { class: 'quiet' }, ...facts.flatMap((f, i) => i ? [' · ', f] : [f])), h('p', { class: 'quiet' }, names.join(' · ')), codeOf(step)];
}

// The C that a step became, where the document has it.
const codeNamed = new Map((report.code || []).map(c => [c.step, c.text]));
const codeOf = step => codeNamed.has(step.step) ? h('details', { class: 'code' }, h('summary', {}, 'the code it became'), h('pre', {}, codeNamed.get(step.step))) : null;

function describeLine(line) {
  const own = new Map(); // the steps of a kernel's pieces together
  for (const o of steps.filter(o => o.line === line && !o.waits_for && !o.to)) {
    const key = o.group ? `${o.phase} ${o.group}` : o.step;
    own.set(key, (own.get(key) || []).concat([o]));
  }
  const items = [...own.values()].map(list => h('li', {}, h('b', {}, list.length > 1 ? `${list.length} steps from ${list[0].step}` : `step ${list[0].step}`),
    ` ${list[0].phase}, ${time(sum(list, o => o.seconds))}: ${list.length > 1 ? list[0].group : list[0].what}`, ...[codeOf(list[0])].filter(Boolean)));
  return [h('p', {}, h('b', {}, `line ${line}`), ' ', h('code', {}, report.source.lines[line - 1])), items.length ? h('ul', {}, ...items) : h('p', { class: 'quiet' }, 'no step of the epoch comes from it')];
}

// Of a fate that does not fit: where memory is missing, if it is.
const lack = a => !a.over_bytes ? 'no plan was found' : `${needed(a.over_bytes)} over budget` + (!a.short_of || a.short_of === 'device' ? '' : ` of ${a.short_of}`);

function describeValue(v) {
  if (v.children) return [h('p', {}, h('b', {}, nodeNamed.has(parentOf.get(v.value)) ? `${labelled(nodeNamed.get(parentOf.get(v.value)))}, ${v.label}` : v.label), ` ${v.what}`),
    h('p', { class: 'quiet' }, `${bytes(v.bytes)} · ${fatesText(v)}, adds ${added(v.adds_seconds)}` + (v.line ? ` · line ${v.line}` : '')), h('p', { class: 'quiet' }, 'o or ▸ opens its pieces')];
  const flips = v.alternatives.map(a => a.fits ? `${a.fate} ${added(a.adds_seconds)}` : `${a.fate}: ${lack(a)}`);
  return [h('p', {}, h('b', {}, v.value), ` ${v.what}`), h('p', { class: 'quiet' }, `${bytes(v.bytes)} · ${v.fate}${v.pinned ? ', pinned' : ''}, adds ${added(v.adds_seconds)}` + (v.line ? ` · line ${v.line}` : '')),
    hasAlternatives && h('p', { class: 'quiet' }, flips.length ? `instead: ${flips.join(' · ')}` : 'nothing else is possible or needed')];
}

function mark(box, rows) {
  for (const node of box.querySelectorAll('tr.chosen')) node.classList.remove('chosen');
  rows.filter(Boolean).forEach((node, i) => { node.classList.add('chosen'); if (i === 0) showIn(box, node); });
}

function choose({ step = 0, value = '', line = 0, band = -1 }) {
  Object.assign(view, { step, value, line, band });
  const o = report.steps[step - 1], v = valueNamed.get(value) || nodeNamed.get(value);
  if (o) { view.value = o.value || (o.writes || []).find(name => valueNamed.has(name)) || ''; }
  $('details').replaceChildren(...(o ? describeStep(o) : v ? describeValue(v) : band >= 0 ? describeBand(band) : line ? describeLine(line) : hint()).filter(Boolean));
  const lineShown = line || (o ? o.line : v ? v.line : band >= 0 ? allBands()[band].first.line : 0);
  mark($('source'), lineShown ? [$(`line-${lineShown}`)] : []);
  mark($('decisions'), (view.value ? [view.value] : [...new Set(report.values.filter(w => line && w.line === line).map(w => rowShown(w.value)))]).map(w => $(`value-${rowShown(w)}`)));
  redraw();
}
const hint = () => [h('p', { class: 'quiet' }, 'Point at a box for its step; click it, and its value and its source line light up. A value or a line lights up its boxes.' +
  (hasPieces ? ' A frame is several steps that take turns, part by part: a second click, or o, opens it; so do ▸ and o the pieces of a value.' : ''))];

// ---- moving about ----

function show(from, to) {
  const most = whole(), least = Math.max(most / 20000, 1e-9), wide = Math.min(Math.max(to - from, least), most);
  view.from = Math.min(Math.max(from, 0), most - wide);
  view.to = view.from + wide;
  redraw();
}
function zoom(factor, middle = (view.from + view.to) / 2) { show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor); }
function pan(share) { const by = (view.to - view.from) * share; show(view.from + by, view.to + by); }
function reveal(step, mode = skyMode()) {
  const at = span(step, mode);
  if (!at) return;
  const wide = view.to - view.from;
  if (at[1] - at[0] < wide / 200) show(at[0] - 40 * (at[1] - at[0]), at[1] + 40 * (at[1] - at[0]));
  else if (at[0] < view.from || at[1] > view.to) show(at[0] - wide / 3, at[0] + 2 * wide / 3);
}

function nextWait() {
  const waits = steps.filter(o => o.waits_for && modesShown().some(mode => isShown(o, mode)));
  if (!waits.length) { $('found').textContent = 'nothing waits'; return; }
  const next = waits.find(o => o.step > view.step) || waits[0];
  const modes = modesShown().filter(mode => isShown(next, mode)), took = mode => time(mode === 'measured' ? next.measured.seconds : next.seconds);
  $('found').textContent = `wait ${waits.indexOf(next) + 1} of ${waits.length}, ${modes.map(mode => `${took(mode)} ${mode}`).join(', ')}`;
  choose({ step: next.step });
  reveal(next, modes[0]);
}

function goToPeak() {
  const step = report.steps[report.peak_step - 1];
  if (step && step.step <= steps.length) reveal(step);
  choose({ step: report.peak_step });
  drawThere(report.peak_step);
}

function setMode(key) {
  if (!report.measured) { $('found').textContent = 'there is no measurement: --measured=run.json'; return; }
  const isAll = view.to - view.from > 0.999 * whole();
  view.mode = { e: 'estimated', m: 'measured', b: 'both' }[key];
  if (isAll) show(0, whole());
  else show(view.from, view.to);
}

// "15" and "step 15" are that step; other text is looked for in what steps do.
function find(text, isNext) {
  const wanted = text.trim().toLowerCase(), number = wanted.replace(/^step\s*/, '');
  const isNumber = /^\d+$/.test(number);
  view.found = wanted ? steps.filter(o => isNumber ? String(o.step) === number : o.what.toLowerCase().includes(wanted) || (o.value || '').toLowerCase().includes(wanted)).map(o => o.step) : [];
  const next = view.found.find(n => !isNext || n > view.step) || view.found[0];
  $('found').textContent = wanted ? `${view.found.length} of ${steps.length} steps` : '';
  if (next) { choose({ step: next }); reveal(report.steps[next - 1]); } else redraw();
}

const keys = {
  '+': () => zoom(1 / 1.6), '=': () => zoom(1 / 1.6), '-': () => zoom(1.6), 0: () => show(0, whole()), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
  o: openChosen, '/': () => $('find').focus(), n: () => find($('find').value, true), w: nextWait, p: goToPeak, e: () => setMode('e'), m: () => setMode('m'), b: () => setMode('b'),
  Escape: () => { view.found = []; $('find').value = ''; $('found').textContent = ''; choose({}); },
};

function listen() {
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target === $('find') && e.key !== 'Escape') { if (e.key === 'Enter') find($('find').value, true); return; }
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    if (e.key === 'Escape') document.activeElement.blur();
    act();
  });
  for (const b of document.querySelectorAll('[data-key]')) b.addEventListener('click', () => keys[b.dataset.key]());
  $('find').addEventListener('input', () => find($('find').value, false));
  $('more-strips').querySelector('input').addEventListener('change', e => { view.everyValue = e.target.checked; redraw(); });
  $('addresses').addEventListener('toggle', redraw);
  const line = $('timeline');
  let grip = null;
  line.addEventListener('pointerdown', e => { if (!e.target.closest('summary')) grip = { px: e.clientX, from: view.from, to: view.to, isDragged: false }; });
  addEventListener('pointerup', () => { setTimeout(() => { grip = null; }); });
  line.addEventListener('pointermove', e => {
    const px = e.clientX - line.getBoundingClientRect().left, t = timeAt(px);
    if (grip && Math.abs(e.clientX - grip.px) > 4) {
      grip.isDragged = true;
      const by = (grip.px - e.clientX) / (width() - gutter()) * (grip.to - grip.from);
      show(grip.from + by, grip.to + by);
    }
    const row = memory.find(r => { const at = rowSpan(r); return t >= at[0] && t < at[1]; });
    $('cursor').hidden = px < gutter();
    $('cursor').style.left = `${px}px`;
    $('cursor').classList.toggle('left', px > width() / 2);
    $('cursor').firstChild.textContent = time(t) + (row ? `, ${bytes(row.device_bytes)}` : '');
    const box = e.target.closest('[data-step]');
    const strip = e.target.closest('#strips [data-value]'), band = e.target.closest('[data-band]'), isFree = !view.step && !view.line && view.band < 0;
    if (strip && isFree && !view.value) $('details').replaceChildren(...describeValue(valueNamed.get(strip.dataset.value) || nodeNamed.get(strip.dataset.value)).filter(Boolean));
    if (band && isFree && !view.value) $('details').replaceChildren(...describeBand(Number(band.dataset.band), t));
    if (box && isFree) $('details').replaceChildren(...describeStep(report.steps[box.dataset.step - 1]).filter(Boolean));
  });
  line.addEventListener('pointerleave', () => { $('cursor').hidden = true; });
  line.addEventListener('wheel', e => { if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.clientX - line.getBoundingClientRect().left)); } }, { passive: false });
  line.addEventListener('click', e => {
    if (grip && grip.isDragged) return;
    const box = e.target.closest('[data-step]'), strip = e.target.closest('[data-value]'), band = e.target.closest('[data-band]'), opener = e.target.closest('[data-open]');
    if (opener) toggleOpened(opener.dataset.open);
    else if (band && Number(band.dataset.band) === view.band) toggleBand(view.band);
    else if (band) choose({ band: Number(band.dataset.band) });
    else if (box && box.dataset.step !== box.dataset.last) { const a = span(report.steps[box.dataset.step - 1], skyMode()), b = span(report.steps[box.dataset.last - 1], skyMode()); show(a[0], b[1]); }
    else if (box) choose({ step: Number(box.dataset.step) });
    else if (strip) choose({ value: valueNamed.has(strip.dataset.value) ? rowShown(strip.dataset.value) : strip.dataset.value });
    else if (e.target.closest('#sky')) {
      const t = timeAt(e.clientX - line.getBoundingClientRect().left), row = memory.find(r => { const at = rowSpan(r); return t >= at[0] && t < at[1]; });
      if (row) drawThere(row.step);
    } else choose({});
  });
  $('details').addEventListener('click', e => {
    const link = e.target.closest('a');
    if (!link) return;
    e.preventDefault();
    showIn($('source'), $(link.hash.slice(1)));
    $('source').scrollIntoView({ block: 'nearest' });
  });
  new ResizeObserver(() => {
    if (line.clientWidth !== wideNow) $('cursor').hidden = true; // it is at a time that is elsewhere now
    redraw();
  }).observe(line);
}

// ---- who makes what for whom: forward on the left going down, backward on the right coming up ----

const MOST_NODES = 300, NODE = 18;
const kernels = kernelsTogether(steps.filter(o => o.lane === 'compute' && !o.waits_for));

// From the step that made a value last to each that reads it; by which tier it went in between.
function edgesOf(list) {
  const makerOf = new Map(), wayOf = new Map(), shown = new Set(list.map(o => o.step)), edges = new Map();
  for (const o of steps) {
    const to = kernelOfStep.get(o.step) || o.step;
    if (o.to) wayOf.set(o.value, o.to === 'device' ? o.from : o.to);
    for (const name of o.reads || []) {
      const from = makerOf.get(name), value = pieceKey(name), key = `${from} ${to} ${value}`, way = wayOf.get(name) || '';
      if (from && shown.has(from) && shown.has(to) && (way || !edges.has(key))) edges.set(key, { value, from, to, way });
    }
    for (const name of o.writes || []) { makerOf.set(name, to); wayOf.delete(name); }
  }
  return [...edges.values()];
}

function drawDag() {
  if (!$('graph').open) return;
  const isInView = o => { const at = span(o, skyMode()); return at && at[1] >= view.from && at[0] <= view.to; }, inView = kernels.filter(o => (o.pieces || [o]).some(isInView)), list = inView.slice(0, MOST_NODES);
  const isLeft = o => o.phase === 'forward' || o.phase === 'eval', left = list.filter(isLeft), right = list.filter(o => !isLeft(o));
  const W = $('graph').clientWidth, rows = Math.max(left.length, right.length, 1), H = rows * NODE + 12, wide = W * 0.3, place = new Map(), node = $('dag');
  left.forEach((o, i) => place.set(o.step, { x: W * 0.1, y: 6 + i * NODE, isLeft: true }));
  right.forEach((o, i) => place.set(o.step, { x: W * 0.6, y: 6 + (rows - 1 - i) * NODE, isLeft: false }));
  setSize(node, H);
  node.replaceChildren();
  for (const e of edgesOf(list)) {
    const a = place.get(e.from), b = place.get(e.to), y1 = a.y + NODE / 2, y2 = b.y + NODE / 2, far = Math.min(W * 0.09, 8 + Math.abs(y2 - y1) / 4);
    const outer = p => p.isLeft ? p.x - far : p.x + wide + far, edge = p => p.isLeft ? p.x : p.x + wide;
    const d = a.isLeft === b.isLeft ? `M${edge(a)} ${y1}C${outer(a)} ${y1} ${outer(b)} ${y2} ${edge(b)} ${y2}` : `M${a.x + (a.isLeft ? wide : 0)} ${y1}C${W / 2} ${y1} ${W / 2} ${y2} ${b.x + (b.isLeft ? wide : 0)} ${y2}`;
    node.append(s('path', { class: ['edge', e.way, e.value === view.value || e.from === view.step || e.to === view.step ? 'chosen' : ''].join(' ').trim(), d, 'data-value': e.value }, s('title', {}, `${e.value.replace('[]', '')}: step ${e.from} to ${e.to}${e.way ? ` by ${e.way}` : ''}`)));
  }
  for (const o of list) {
    const p = place.get(o.step), room = Math.floor((wide - 8) / 6.2), text = o.pieces ? `${o.step} … ${o.what}, ${o.pieces.length} steps` : `${o.step} ${o.what}`;
    const classes = ['box', roleOf(o), o.step === view.step || (view.step && kernelOfStep.get(view.step) === o.step) ? 'chosen' : '', view.line && o.line === view.line ? 'related' : ''];
    node.append(s('rect', { class: classes.join(' ').trim(), x: p.x, y: p.y + 1, width: wide, height: NODE - 3, 'data-step': o.step }, s('title', {}, text)),
      s('text', { class: o.phase === 'backward' ? 'on-dark' : o.phase === 'recompute' ? 'on-pattern' : 'on-box', x: p.x + 4, y: p.y + 12 }, text.length <= room ? text : text.slice(0, room - 1) + '…'));
  }
  $('graph-note').textContent = `${list.length} of ${kernels.length} kernels, those that the timeline shows; moved values are thick` + (inView.length > list.length ? '; zoom in for the others' : '');
}

function listenToDag() {
  $('graph').addEventListener('toggle', redraw);
  $('dag').addEventListener('click', e => {
    const box = e.target.closest('[data-step]'), edge = e.target.closest('[data-value]');
    if (box) choose({ step: Number(box.dataset.step) });
    else choose(edge && (valueNamed.has(edge.dataset.value) || nodeNamed.has(edge.dataset.value)) ? { value: edge.dataset.value } : {});
  });
}

// ---- tables ----

const swatch = kind => s('svg', { width: 11, height: 11, style: 'display:inline-block;width:11px;margin-right:.35em', 'aria-hidden': true }, s('rect', { class: kind, width: 11, height: 11 }));
const fateClass = { keep: 'device', host: 'host', ssd: 'ssd', recompute: 'recomputed', mixed: 'mixed' };

// A planning problem says nothing of lines, and its report nothing of other fates.
const hasAlternatives = report.values.some(v => v.alternatives.length), hasLines = report.source.lines.length > 0;

function nextBest(v) {
  if (v.children) return fatesText(v);
  const fitting = v.alternatives.filter(a => a.fits).sort((a, b) => a.adds_seconds - b.adds_seconds)[0], over = v.alternatives.filter(a => !a.fits);
  const texts = [v.pinned ? 'pinned' : '', fitting ? `${fitting.fate} ${added(fitting.adds_seconds)}` : '', ...over.filter(a => a.fate === 'keep').map(a => `keep: ${lack(a)}`)].filter(Boolean);
  return texts.join('; ') || (v.fate === 'keep' ? 'nothing else is possible or needed' : report.values.some(w => w.pinned) ? 'nothing else fits beside the pins' : 'nothing else fits');
}

const MOST_ROWS = 300;
let isEveryRow = false;
function drawDecisions() {
  const all = withOpened(decided).map(row => ({ ...row.node, row, id: `value-${row.node.value}` })), rows = isEveryRow ? all : all.slice(0, MOST_ROWS), box = $('decisions');
  const away = report.values.filter(v => v.fate !== 'keep').length, scrolled = box.scrollTop;
  box.replaceChildren(table(hasPieces ? `of ${decided.length} values in ${report.values.length} pieces, ${away} pieces are not kept; estimated` : `${away} of ${report.values.length} values are not kept; estimated`, [
    ['value', v => hasPieces ? openerCell(v.row, labelled(v)) : v.value], ['what it is', v => v.what, 'wrap'], ...(hasLines ? [['line', v => v.line, 'n']] : []), ['size', v => bytes(v.bytes), 'n'], ['fate', v => [swatch(fateClass[v.fate]), v.fate]],
    ['adds', v => added(v.adds_seconds), 'n'], ...(hasAlternatives ? [['why not the next best', nextBest, 'wrap']] : [])], rows, v => choose({ value: v.value })));
  box.scrollTop = scrolled;
  if (rows.length === all.length) return;
  const more = h('button', {}, `${all.length - rows.length} more`);
  more.addEventListener('click', () => { isEveryRow = true; drawDecisions(); });
  box.append(more);
}

function drawSource() {
  $('source').parentNode.hidden = !hasLines;
  $('source-title').textContent = `${report.source.file}, what each line costs`;
  const computing = steps.filter(o => o.lane === 'compute'), lines = report.source.lines.map((text, i) => {
    const own = computing.filter(o => o.line === i + 1), values = report.values.filter(v => v.line === i + 1), away = values.filter(v => v.fate !== 'keep');
    return { text, line: i + 1, id: `line-${i + 1}`, seconds: own.reduce((sum, o) => sum + o.seconds, 0), bytes: values.reduce((sum, v) => sum + v.bytes, 0), away, isUsed: own.length > 0 };
  });
  const most = Math.max(...lines.map(l => l.seconds), 1e-12);
  $('source').append(table('time on the compute lane and bytes of the values made; estimated', [
    ['time', l => l.isUsed ? h('span', {}, time(l.seconds)) : '', 'n heat'], ['values', l => l.bytes ? bytes(l.bytes) : '', 'n'],
    ['fates', l => [...new Set(l.away.map(v => v.fate))].map(f => h('span', { title: f }, swatch(fateClass[f]), `${new Set(l.away.filter(v => v.fate === f).map(v => v.group || v.value)).size} `))], ['', l => h('span', { class: 'quiet' }, l.line), 'n'], ['source', l => h('code', {}, l.text)]],
    lines, l => choose({ line: l.line })));
  lines.forEach(l => { $(l.id).querySelector('.heat').style.setProperty('--share', l.seconds / most); });
}

const gapsAt = n => (report.memory.find(r => r.first_step <= n && n <= r.step) || {}).gaps || 0;

function drawThere(n) {
  const step = report.steps[n - 1], fates = name => valueNamed.get(name) || nodeNamed.get(name), there = togetherThere(report.blocks.filter(b => b.first_step <= n && n <= b.last_step));
  $('there-title').textContent = n === report.peak_step ? `Who is in memory at the peak, step ${n}?` : `Who is in memory at step ${n}?`;
  $('there').replaceChildren(table(`step ${n}, ${step.what}: ${bytes(step.device_bytes)} on ${device}` + (gapsAt(n) ? `, and ${bytes(gapsAt(n))} in gaps between them` : ''), [
    ['what', b => cellThere(b, () => drawThere(n))], ['kind', b => b.kind], ['size', b => bytes(b.bytes), 'n'], ['born at step', b => b.first_step, 'n'], ['dies at step', b => b.last_step, 'n'],
    ['fate', b => b.value && fates(b.value) && n <= steps.length ? fates(b.value).fate : 'stays'.repeat(b.last_step - b.first_step + 1 === report.steps.length)], ...(hasLines ? [['line', b => b.line || '', 'n']] : [])], there, b => b.value && choose({ value: b.value })));
}

function whenOpened(id, fill) {
  $(id).addEventListener('toggle', () => { const box = $(id).querySelector('.scroll'); if ($(id).open && !box.firstChild) box.append(fill()); });
}
const stepTable = () => table('every step in the order of its number', [
  ['step', o => o.step, 'n'], ['lane', o => o.lane], ['phase', o => o.phase], ...(hasLayers ? [['layer', o => o.layer ? layerText(o.layer) : '']] : []), ['start', o => time(o.start_seconds), 'n'], ['took', o => time(o.seconds), 'n'],
  ...(report.measured ? [['measured', o => o.measured ? time(o.measured.seconds) : '', 'n']] : []), ['what', o => o.what, 'wrap'], ['line', o => o.line || '', 'n'], ['bytes', o => bytes(o.bytes), 'n'],
  [`${device} now`, o => bytes(o.device_bytes), 'n'], ['waits for', o => o.waits_for || '', 'n']], report.steps, o => { choose({ step: o.step }); if (o.step <= steps.length) reveal(o); });
const memoryTable = () => table('bytes alive from the end of one kernel to the end of the next', [
  ['step', r => r.step, 'n'], ['until', r => time(r.end_seconds), 'n'], [device, r => bytes(r.device_bytes), 'n'], ['host', r => bytes(r.host_bytes), 'n'], ['ssd', r => bytes(r.ssd_bytes), 'n'],
  ...kinds.map(k => [k, r => bytes(r[k] || 0), 'n'])], report.memory, r => drawThere(r.step));

const placeTable = () => table(`bytes on ${device} by address, and what is elsewhere`, [
  ['what', p => p.name || p.value], ['kind', p => p.kind || ''], ['tier', p => p.tier === 'device' ? device : p.tier], ['address', p => p.offset === undefined ? '' : p.offset, 'n'], ['size', p => bytes(p.bytes), 'n'],
  ['from step', p => p.first_step, 'n'], ['to step', p => p.last_step, 'n'], ['it was', p => p.how || '']], [...report.blocks, ...report.homes], p => valueNamed.has(p.value) && choose({ value: p.value }));
function useTable() {
  const sources = new Map();
  for (const e of edgesOf(kernels)) sources.set(`${e.to} ${e.value.replace('[]', '')}`, ` of step ${e.from}${e.way ? `, by ${e.way}` : ''}`);
  return table('every kernel of the graph, what it reads and what it makes', [
    ['step', o => o.step, 'n'], ['phase', o => o.phase], ['what', o => o.what, 'wrap'], ['reads', o => (o.reads || []).map(v => v + (sources.get(`${o.step} ${v}`) || '')).join('; '), 'wrap'],
    ['writes', o => (o.writes || []).join('; '), 'wrap']], kernels, o => choose({ step: o.step }));
}

// ---- less or more memory ----

const aboutSketched = p => p.sketched ? '≈ ' : '';
let curveWide = -1;
function drawCurve() {
  const sweep = report.sweep, node = $('curve'), W = node.clientWidth || 640;
  if ($('sweep').hidden || W === curveWide) return;
  curveWide = W;
  const points = sweep.points.filter(p => p.fits), H = 260, L = 64, R = 20, T = 20, B = 34, current = sweep.points[sweep.current], knee = sweep.points[sweep.knee];
  const least = Math.min(...points.map(p => p.needs_bytes)), keep = Math.max(...points.map(p => p.needs_bytes)), now = sweep.current_bytes;
  const isBeyond = now > 1.25 * keep, most = 1.12 * Math.max(...points.map(p => p.seconds)), high = current && !isBeyond ? Math.max(keep, now) : keep;
  const pad = (high - least || high) * 0.08, end = W - R;
  const px = b => L + (b - least + pad) / (high - least + 2 * pad) * (end - L), py = t => H - B - t / most * (H - T - B);
  const under = b => s('text', { class: 'quiet', x: px(b), y: H - B + 15, 'text-anchor': 'middle' }, needed(b));
  setSize(node, H);
  node.replaceChildren();
  for (let i = 0; i <= 4; i++)
    node.append(s('path', { class: 'axis', d: `M${L} ${py(most * i / 4)}H${end}` }), s('text', { class: 'quiet', x: L - 4, y: py(most * i / 4) + 4, 'text-anchor': 'end' }, shortTime(most * i / 4)));
  for (let i = 0; i <= (high > least ? 4 : 0); i++) node.append(under(least + (high - least) * i / 4));
  let d = `M${end} ${py(points[0].seconds)}`;
  for (const p of points) d += `V${py(p.seconds)}H${px(p.needs_bytes)}`;
  node.append(s('rect', { class: 'band', x: L, y: T, width: Math.max(0, px(least) - L), height: H - T - B }), s('text', { class: 'quiet', x: L + 3, y: T + 12 }, sweep.least_bytes ? 'nothing fits' : sweep.open ? 'less was not tried' : 'nothing was found'), s('path', { d, fill: 'none', stroke: 'var(--quiet)', 'stroke-width': 2.5 }));
  for (const p of points) node.append(s('circle', { cx: px(p.needs_bytes), cy: py(p.seconds), r: 3.5, fill: p.sketched ? 'var(--paper)' : 'var(--quiet)', stroke: 'var(--quiet)' }, s('title', {}, `${aboutSketched(p)}${needed(p.needs_bytes)}: ${time(p.seconds)}`)));
  const label = (x, seconds, text, dy) => node.append(s('circle', { cx: x, cy: py(seconds), r: 6, fill: 'none', stroke: 'var(--ink)', 'stroke-width': 2 }),
    s('text', { x: x > W / 2 ? x - 8 : x + 8, y: py(seconds) + dy, style: 'font-weight:600', 'text-anchor': x > W / 2 ? 'end' : 'start' }, text));
  const kneeX = knee && px(knee.needs_bytes), nowX = isBeyond ? end - 6 : px(now);
  if (knee) label(kneeX, knee.seconds, 'best value', -8);
  if (current) label(nowX, current.seconds, isBeyond ? `this budget, ${needed(now)} →` : 'this budget', knee && Math.abs(kneeX - nowX) < 170 ? 18 : -8);
  node.append(s('text', { class: 'quiet', x: L, y: H - 4 }, `time of an epoch by ${sweep.tier} budget, estimated`));
  if (sweep.sketched) node.append(s('text', { class: 'quiet', x: end, y: 12, 'text-anchor': 'end' }, '● planned  ○ sketched: about so much'));
}

function drawSweep() {
  const sweep = report.sweep;
  if (!sweep || !sweep.points.some(p => p.fits)) return;
  $('sweep').hidden = false;
  const points = sweep.points.filter(p => p.fits);
  const notes = (p, i) => [i === sweep.knee ? 'best value' : '', i === sweep.current ? `this budget, ${needed(sweep.current_bytes)}` : '', p.host + p.ssd + p.recomputed === 0 ? 'everything kept' : '', sweep.least_bytes && i === sweep.points.length - 1 ? 'least that works' : ''].filter(Boolean).join(', ');
  $('points').append(table((sweep.least_bytes ? `below ${needed(sweep.least_bytes)} nothing fits` : 'plans by budget') + (sweep.sketched ? '; ≈: sketched, about so much, the others were planned' : ''), [
    ['from', p => aboutSketched(p) + needed(p.needs_bytes), 'n'], ['epoch', p => aboutSketched(p) + time(p.seconds), 'n'], ['vs best', p => `${p.versus_best.toFixed(2)}×`, 'n'], ['kept', p => p.kept, 'n'], ['recomputed', p => p.recomputed, 'n'], ['host', p => p.host, 'n'], ['ssd', p => p.ssd, 'n'],
    ...(points.some(p => p.mode) ? [['values', p => p.mode || '', 'wrap']] : []),
    ['', p => notes(p, sweep.points.indexOf(p)), 'wrap']], points));
}

// ---- estimate against measurement ----

const offBy = o => { const ratio = o.measured.seconds / o.seconds; return Math.max(ratio, 1 / ratio); };

function drawAccuracy() {
  const both = steps.filter(o => o.measured && o.seconds > 1e-9 && o.measured.seconds > 1e-9 && !o.waits_for);
  if (!both.length) return;
  $('accuracy').hidden = false;
  const all = both.flatMap(o => [o.seconds, o.measured.seconds]), low = Math.log10(Math.min(...all)) - 0.1, high = Math.log10(Math.max(...all)) + 0.1, W = Math.min($('dots').clientWidth || 420, 460), H = 340, L = 68, B = 34;
  const px = t => L + (Math.log10(t) - low) / (high - low) * (W - L - 22), py = t => H - B - (Math.log10(t) - low) / (high - low) * (H - B - 12), node = $('dots');
  node.setAttribute('viewBox', `0 0 ${W} ${H}`);
  node.style.maxWidth = `${W}px`;
  for (const [k, style] of [[1, ''], [2, 'stroke-dasharray:4 3'], [0.5, 'stroke-dasharray:4 3'], [10, 'stroke-dasharray:1 3'], [0.1, 'stroke-dasharray:1 3']]) {
    const from = 10 ** Math.max(low, low - Math.log10(k)), to = 10 ** Math.min(high, high - Math.log10(k));
    node.append(s('path', { style: `fill:none;stroke:var(--quiet);${style}`, d: `M${px(from)} ${py(from * k)}L${px(to)} ${py(to * k)}` }), s('text', { class: 'quiet', x: px(to) - 22, y: py(to * k) + 12 }, k === 1 ? '' : k < 1 ? `1/${1 / k}` : `${k}×`));
  }
  const decades = Math.ceil((high - low) / ((W - L) / 70));
  for (let p = Math.ceil(low); p <= high; p += decades) node.append(s('text', { class: 'quiet', x: px(10 ** p), y: H - B + 15, 'text-anchor': 'middle' }, shortTime(10 ** p)), s('text', { class: 'quiet', x: L - 4, y: py(10 ** p) + 4, 'text-anchor': 'end' }, shortTime(10 ** p)));
  for (const o of both) node.append(s('circle', { class: `box ${roleOf(o)}`, cx: px(o.seconds), cy: py(o.measured.seconds), r: 4, 'data-step': o.step }, s('title', {}, `step ${o.step} ${o.what}: ${time(o.seconds)} estimated, ${time(o.measured.seconds)} measured`)));
  node.append(s('text', { class: 'quiet', x: L, y: H - 4 }, 'estimated across, measured up'));
  node.addEventListener('click', e => { const dot = e.target.closest('[data-step]'); if (dot) choose({ step: Number(dot.dataset.step) }); });
  const columns = [['step', o => o.step, 'n'], ['what', o => o.what, 'wrap'], ['estimated', o => time(o.seconds), 'n'], ['measured', o => time(o.measured.seconds), 'n'], ['ratio', o => `${(o.measured.seconds / o.seconds).toFixed(2)}×`, 'n']];
  whenOpened('estimates', () => table('every step that was measured', columns, both, o => choose({ step: o.step })));
  const worst = [...both].sort((a, b) => offBy(b) - offBy(a)).slice(0, 5), grade = o => offBy(o) >= 10 ? 'n off-10' : offBy(o) >= 2 ? 'n off-2' : 'n';
  const worstTable = table('the five furthest off', columns, worst, o => choose({ step: o.step }));
  worst.forEach((o, i) => { worstTable.tBodies[0].rows[i].lastChild.className = grade(o); });
  $('worst').append(worstTable);
  const links = report.machine.links.map(l => ({ ...l, copies: steps.filter(o => o.lane === l.lane && o.to && o.measured && o.measured.seconds > 0) })).filter(l => l.copies.length);
  const reached = l => l.copies.reduce((sum, o) => sum + o.bytes, 0) / l.copies.reduce((sum, o) => sum + o.measured.seconds, 0);
  if (links.length) $('links').append(table(report.machine.is_measured ? 'links: as calibrated, and in this run' : 'links: as assumed, and in this run', [['link', l => l.lane], ['planned with', l => rate(l.bandwidth), 'n'], ['measured', l => rate(reached(l)), 'n'], ['copies', l => l.copies.length, 'n']], links));
}

function drawNotes() {
  const e = report.epoch, notes = [...report.notes];
  if (e.lower_bound_seconds > 0) notes.unshift(e.is_optimal ? 'solver: the plan is optimal for these costs' : `solver: within ${(100 * (e.seconds / e.lower_bound_seconds - 1)).toFixed(2)} % of a proved bound`);
  if (report.tiers.device.lower_bound_bytes) notes.push(`layout: ${needed(report.tiers.device.peak_bytes)} of addresses; no layout of these values is lower than ${needed(report.tiers.device.lower_bound_bytes)}`);
  $('notes').append(...notes.map(text => h('li', {}, text)));
  const save = h('a', { href: '#', download: 'plan.json' }, 'save the data as JSON');
  save.addEventListener('click', () => { save.href = URL.createObjectURL(new Blob([JSON.stringify(report, (key, v) => key === 'measured' && v.step ? undefined : v, 1)], { type: 'application/json' })); });
  $('colophon').append(`${report.generator} · fingerprint ${report.fingerprint} · `, save);
}

for (const id of ['open-pieces', 'key-o']) $(id).hidden = !hasPieces;
drawHead();
drawBars();
drawChanges();
if (report.measured) { // predicted beside measured, first
  $('modes').hidden = false;
  view.mode = 'both';
  $('change').before($('accuracy'));
}
drawLegend();
drawLayers();
drawDecisions();
drawSource();
drawThere(report.peak_step || 1);
drawSweep();
drawAccuracy();
drawNotes();
whenOpened('steps', stepTable);
whenOpened('skyline', memoryTable);
whenOpened('places', placeTable);
whenOpened('uses', useTable);
listen();
listenToDag();
choose({});
view.to = whole() || 1;
draw();
