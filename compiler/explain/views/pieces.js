/* Pieces: a value that is cut is a row that opens to its slices and parts, and the steps of kernels that take turns by parts are one band. */
'use strict';

// ---- values: of a value in pieces the slices, of these the parts ----

const opened = new Set(), nodeNamed = new Map(), parentOf = new Map(), labelOf = new Map();

// How many parts and slices there are of each group, of values or of steps.
function sizesOf(list) {
  const sizes = new Map();
  for (const { group, part = 0, slice = 0 } of list) {
    if (!group) continue;
    const size = sizes.get(group) || { parts: 0, slices: 0 };
    sizes.set(group, { parts: Math.max(size.parts, part), slices: Math.max(size.slices, slice) });
  }
  return sizes;
}
// "slice 2 of 4, part 3 of 16"
function whichPiece({ slice, part }, { slices, parts }) {
  return [slice ? `slice ${slice} of ${slices}` : '', part ? `part ${part} of ${parts}` : ''].filter(Boolean).join(', ');
}

const sum = (list, get) => list.reduce((all, v) => all + get(v), 0);

// What all pieces are together; the name in brackets is no value's.
function nodeOf(value, label, pieces, children) {
  const first = pieces.reduce((a, b) => (b.slice || 0) < (a.slice || 0) || ((b.slice || 0) === (a.slice || 0) && (b.part || 0) < (a.part || 0)) ? b : a);
  const node = { value, label, pieces, children, what: first.what, line: first.line, bytes: sum(pieces, v => v.bytes), adds_seconds: sum(pieces, v => v.adds_seconds),
    fate: pieces.every(v => v.fate === first.fate) ? first.fate : 'mixed', pinned: pieces.some(v => v.pinned), alternatives: [] };
  nodeNamed.set(value, node);
  for (const child of children) parentOf.set(child.value, value);
  return node;
}

function treeOf(values) {
  const groups = new Map(), sizes = sizesOf(values);
  for (const v of values) {
    const key = v.group ? `${v.group}[]` : v.value;
    groups.set(key, (groups.get(key) || []).concat([v]));
  }
  const list = [...groups].map(([key, pieces]) => {
    const { group } = pieces[0], size = sizes.get(group);
    if (!group) return pieces[0];
    const inOrder = [...pieces].sort((a, b) => (a.slice || 0) - (b.slice || 0) || (a.part || 0) - (b.part || 0));
    const named = v => { labelOf.set(v.value, size.slices && size.parts ? `part ${v.part} of ${size.parts}` : whichPiece(v, size)); return v; };
    if (!(size.slices && size.parts)) return nodeOf(key, group, pieces, inOrder.map(named));
    const ofSlice = k => inOrder.filter(v => v.slice === k);
    return nodeOf(key, group, pieces, Array.from({ length: size.slices }, (_, k) => nodeOf(`${key}${k + 1}`, `slice ${k + 1} of ${size.slices}`, ofSlice(k + 1), ofSlice(k + 1).map(named))));
  });
  const isMoved = v => v.fate !== 'keep';
  return groups.size === values.length ? list : list.sort((a, b) => b.adds_seconds - a.adds_seconds || isMoved(b) - isMoved(a) || b.bytes - a.bytes);
}

// A list of rows with those of open ones under them.
function withOpened(list, depth = 0) {
  return list.flatMap(node => [{ node, depth }].concat(node.children && opened.has(node.value) ? withOpened(node.children, depth + 1) : []));
}
const labelled = node => node.label || labelOf.get(node.value) || node.value;
// A value's row, or the one that it is hidden in.
function rowShown(value) {
  let shown = value;
  for (let at = parentOf.get(value); at; at = parentOf.get(at)) if (!opened.has(at)) shown = at;
  return shown;
}
// The value is one, or a piece of it.
const isOf = (value, chosen) => value === chosen || (nodeNamed.has(chosen) && nodeNamed.get(chosen).pieces.some(v => v.value === value));

const piecesText = list => `${list.length} piece${list.length === 1 ? '' : 's'}`;
// "of 16 pieces 3 keep, 12 ssd"
function fatesText(node) {
  const fates = ['keep', 'host', 'ssd', 'recompute'].map(f => [f, node.pieces.filter(v => v.fate === f).length]).filter(([, n]) => n);
  return `of ${piecesText(node.pieces)} ${fates.map(([f, n]) => `${n} ${f}`).join(', ')}`;
}

function toggleOpened(value) {
  if (!opened.delete(value)) opened.add(value);
  drawDecisions();
  choose({ value });
}

function opener(isOpen, name, toggle) {
  const button = h('button', { class: 'opener', 'aria-expanded': String(isOpen), 'aria-label': `pieces of ${name}` }, isOpen ? '▾' : '▸');
  button.addEventListener('click', e => { e.stopPropagation(); toggle(); });
  button.addEventListener('keydown', e => { if (e.key === 'Enter') e.stopPropagation(); });
  return button;
}
// The first cell of a row that may open.
function openerCell({ node, depth }, ...content) {
  const indent = h('span', { style: `padding-left:${1.1 * depth}em` });
  if (!node.children) return [indent, ...content];
  return [indent, opener(opened.has(node.value), labelled(node), () => toggleOpened(node.value)), ...content, h('small', {}, ` ${piecesText(node.pieces)}`)];
}

// Of what lies in memory, the pieces of a value as one row.
const openedThere = new Set();
function togetherThere(blocks) {
  const rows = new Map();
  for (const b of blocks) {
    const key = b.group || b.name;
    if (!b.group) { rows.set(key, b); continue; }
    const row = rows.get(key) || { ...b, label: b.group, value: `${b.group}[]`, bytes: 0, children: [] };
    row.children.push({ ...b, label: whichPiece(b, pieceSizes.get(b.group) || blockSizes.get(b.group)) });
    row.bytes += b.bytes;
    row.first_step = Math.min(row.first_step, b.first_step);
    row.last_step = Math.max(row.last_step, b.last_step);
    rows.set(key, row);
  }
  const bySize = (a, b) => b.bytes - a.bytes;
  return [...rows.values()].sort(bySize).flatMap(row => [{ ...row, depth: 0 }].concat(openedThere.has(row.value) ? row.children.sort(bySize).map(b => ({ ...b, depth: 1 })) : []));
}
function cellThere(row, again) {
  const indent = h('span', { style: `padding-left:${1.1 * row.depth}em` }), name = row.label || row.value || row.name;
  if (!row.children) return [indent, swatch(row.kind), name];
  return [indent, opener(openedThere.has(row.value), name, () => { if (!openedThere.delete(row.value)) openedThere.add(row.value); again(); }), swatch(row.kind), name, h('small', {}, ` ${piecesText(row.children)}`)];
}

// How many bytes of it lie where, over time: steps upwards and downwards of a level for each tier.
function levelsOf(stays, tiers) {
  const ends = stays.filter(p => tiers.includes(p.tier)).flatMap(p => [[p.at[0], p.bytes, p.tier], [p.at[1], -p.bytes, p.tier]]).sort((a, b) => a[0] - b[0]);
  const now = Object.fromEntries(tiers.map(t => [t, 0])), list = [];
  for (const [t, change, tier] of ends) {
    now[tier] += change;
    if (list.length && list[list.length - 1].t === t) Object.assign(list[list.length - 1], now);
    else list.push({ t, ...now });
  }
  return list;
}

// On the device upwards from a line, elsewhere downwards: as high as the share of the bytes.
function profileOf(node, stays, y) {
  const middle = y + 10, shapes = [];
  for (const [tiers, scale] of [[['device', 'recomputed'], -9 / node.bytes], [['host', 'ssd'], 6 / node.bytes]]) {
    const levels = levelsOf(stays, tiers);
    tiers.forEach((tier, k) => {
      if (!levels.some(l => l[tier] > 0)) return;
      const below = l => sum(tiers.slice(0, k), t => l[t]), px = t => Math.min(Math.max(x(t), gutter()), width() - 10).toFixed(1);
      let d = '';
      levels.forEach((l, i) => {
        if (!l[tier] || i + 1 === levels.length || px(l.t) === px(levels[i + 1].t)) return;
        const low = middle + scale * below(l), high = low + scale * l[tier];
        d += `M${px(l.t)} ${low.toFixed(1)}V${high.toFixed(1)}H${px(levels[i + 1].t)}V${low.toFixed(1)}Z`;
      });
      shapes.push(s('path', { class: tier, d }));
    });
  }
  return shapes;
}

// ---- layers ----

function drawLayers() {
  const { layers = [] } = report, moves = ['host', 'ssd'].filter(tier => layers.some(l => l[`${tier}_out_bytes`] + l[`${tier}_in_bytes`] > 0)), size = n => n ? bytes(n) : '0';
  const hidden = l => `${(100 * Math.max(0, 1 - (l.wait_seconds + (l.slowed_seconds || 0)) / l.transfer_seconds)).toFixed(0)} %`, ofCopies = show => l => l.transfer_seconds > 0 ? show(l) : '';
  $('layers').hidden = !layers.length;
  if (layers.length) $('layer-table').append(table(`sums over neighbours, and what is copied for them in ${isTraining ? 'an epoch' : 'an evaluation'}; estimated`, [
    ['layer', l => l.layer || 'others'], ['pass', l => l.pass], ['line', l => l.line || '', 'n'], ['mode', l => l.mode], ['pieces', l => l.pieces, 'n'],
    ...moves.flatMap(tier => [[`to ${tier}`, l => size(l[`${tier}_out_bytes`]), 'n'], [`from ${tier}`, l => size(l[`${tier}_in_bytes`]), 'n']]),
    ...(layers.some(l => l.net_bytes) ? [['net', l => size(l.net_bytes), 'n']] : []),
    ...(moves.length || layers.some(l => l.net_bytes) ? [['hidden', ofCopies(hidden), 'n'], ['waits', ofCopies(l => l.wait_seconds > 0 ? shortTime(l.wait_seconds) : '0'), 'n']] : [])], layers, l => l.line && choose({ line: l.line })));
}

// ---- kernels: the steps of the pieces of one as one ----

const kernelOfStep = new Map(); // the first step of it
const pieceKey = name => groupNamed.has(name) ? `${groupNamed.get(name)}[]` : name;
function kernelsTogether(list) {
  const kernels = new Map();
  for (const o of list) {
    const key = o.group ? `${o.phase} ${o.group}` : o.step;
    kernels.set(key, (kernels.get(key) || []).concat([o]));
  }
  const names = (pieces, key) => [...new Set(pieces.flatMap(o => o[key] || []).map(name => groupNamed.get(name) || name))];
  return [...kernels.values()].map(pieces => {
    for (const o of pieces) kernelOfStep.set(o.step, pieces[0].step);
    return pieces.length > 1 ? { ...pieces[0], what: pieces[0].group, pieces, reads: names(pieces, 'reads'), writes: names(pieces, 'writes') } : pieces[0];
  });
}

// ---- steps: kernels that take turns, part by part, are a band; turns.c finds them ----

const openBands = new Set(), bandOfStep = new Map();
let bandList = null;

function makeBands() {
  bandList = packed.turns.map(({ slices, last, parts, names }, i) => {
    const all = steps.slice(slices[0] - 1, last).filter(o => o.lane === 'compute' && !o.waits_for);
    for (const o of all) bandOfStep.set(o.step, i);
    return { steps: all, runs: slices, parts, names, first: all[0], last: all[all.length - 1], phase: all[all.length - 1].phase };
  });
}
const allBands = () => { if (!bandList) makeBands(); return bandList; };

const LEAST_WIDE = 34; // of a step's box, to be a box of its own
function bandSpan(band, mode) {
  const from = span(band.first, mode), to = span(band.last, mode);
  return from && to ? [from[0], to[1]] : null;
}
function isClosed(i, mode) {
  const band = allBands()[i], at = bandSpan(band, mode);
  return at !== null && !openBands.has(i) && (x(at[1]) - x(at[0])) / band.steps.length < LEAST_WIDE;
}

function drawBand(i, y, height, mode, related) {
  const band = allBands()[i], [from, to] = bandSpan(band, mode), left = Math.max(x(from), gutter()), right = Math.min(x(to), width() - 10), wide = right - left;
  if (wide <= 0) return [];
  const px = t => Math.min(Math.max(x(t), left), right).toFixed(2), runs = [], turns = [], slices = [];
  for (const o of band.steps) {
    const at = span(o, mode), last = runs[runs.length - 1], role = roleOf(o);
    if (!at) continue;
    if (last && last.part === o.part && last.role === role) last.to = at[1];
    else runs.push({ part: o.part, role, from: at[0], to: at[1] });
    if (last && band.runs.includes(o.step)) slices.push(at[0]);
    else if (last && last.part !== o.part) turns.push(at[0]);
  }
  const group = [], classes = ['band-frame', view.band === i ? 'chosen' : band.steps.some(o => related.has(o.step) || (view.line && o.line === view.line)) ? 'related' : ''];
  for (const role of new Set(runs.map(r => r.role)))
    group.push(s('path', { class: role, d: runs.filter(r => r.role === role).map(r => `M${px(r.from)} ${y}H${px(r.to)}V${y + height}H${px(r.from)}Z`).join('') }));
  for (const [times, kind] of [[turns, 'division'], [slices, 'division slice']])
    if (times.length && wide / (times.length + (kind === 'division' ? slices.length : 0)) >= 3) group.push(s('path', { class: kind, d: times.map(t => `M${px(t)} ${y}v${height}`).join('') }));
  const room = Math.floor((wide - 8) / 6.1), label = `${band.names} · ${band.parts} parts`, text = label.length <= room ? label : room >= 10 ? label.slice(0, room - 1) + '…' : '';
  group.push(s('rect', { class: classes.join(' ').trim(), x: left.toFixed(2), y, width: wide.toFixed(2), height, rx: 2, 'data-band': i }, s('title', {}, `${band.names}: ${band.parts} parts, steps ${band.first.step} to ${band.last.step}; click twice to open`)));
  if (text && height > 12) group.push(s('text', { class: band.phase === 'backward' ? 'on-dark on-band' : 'on-box on-band', x: (left + 4).toFixed(1), y: y + height / 2 + 4 }, text));
  for (const o of band.steps.filter(o => span(o, mode)))
    if (o.step === view.step || view.found.includes(o.step)) group.push(...drawBox({ role: roleOf(o), from: span(o, mode)[0], to: span(o, mode)[1], first: o, last: o }, y, height, related));
  return group;
}

// Behind the boxes of its steps.
function drawOpenBand(i, y, height, mode) {
  const at = bandSpan(allBands()[i], mode), left = at && Math.max(x(at[0]), gutter()), right = at && Math.min(x(at[1]), width() - 10);
  return at && right > left ? [s('rect', { class: 'band-open', x: (left - 1).toFixed(2), y: y - 2, width: (right - left + 2).toFixed(2), height: height + 4, rx: 2 })] : [];
}

// The band, and the turn that the pointer is at.
function describeBand(i, t) {
  const band = allBands()[i], at = bandSpan(band, skyMode()), turn = t === undefined ? undefined : band.steps.filter(o => { const own = span(o, skyMode()); return own && own[0] <= t && t < own[1]; })[0];
  const took = list => sum(list, o => { const own = span(o, skyMode()); return own ? own[1] - own[0] : 0; }), kernelsOfIt = new Map();
  for (const o of band.steps) kernelsOfIt.set(o.group + (o.phase === 'recompute' ? ', once more' : ''), (kernelsOfIt.get(o.group + (o.phase === 'recompute' ? ', once more' : '')) || []).concat([o]));
  const ofTurn = turn && band.steps.filter(o => o.part === turn.part);
  return [h('p', {}, h('b', {}, band.names)), h('p', { class: 'quiet' }, `${band.parts} parts by turns · ${roleNames[band.phase]}, steps ${band.first.step} to ${band.last.step} · starts ${time(at[0])}, takes ${time(at[1] - at[0])} ${skyMode()}` +
    (turn ? ` · here part ${turn.part}: ${ofTurn.length} step${ofTurn.length > 1 ? 's' : ''}, ${time(took(ofTurn))}` : '')),
    ...(t === undefined ? [h('ul', {}, ...[...kernelsOfIt].map(([what, list]) => h('li', {}, `${what}: ${list.length} steps, ${time(took(list))}`, ...[codeOf(list[0])].filter(Boolean))))] : [])];
}

function toggleBand(i) {
  if (openBands.delete(i)) { redraw(); return; }
  const at = bandSpan(allBands()[i], skyMode()), wide = at[1] - at[0];
  openBands.add(i);
  show(at[0] - wide / 40, at[1] + wide / 40);
}

// What is chosen opens, or closes again.
function openChosen() {
  const value = nodeNamed.has(view.value) ? view.value : parentOf.get(view.value), band = view.band >= 0 ? view.band : view.step ? bandOfStep.get(view.step) : undefined;
  if (band !== undefined) toggleBand(band);
  else if (value) toggleOpened(value);
  else $('found').textContent = hasPieces ? 'choose a band, or a value in pieces, to open it' : 'nothing here is in pieces';
}
