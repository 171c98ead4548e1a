// How an attempt looks and what is said of it: the colour and shape of its status, and legends.

import {element} from './elements.js';
import {formatSpeedup, signOf, words} from './figures.js';

// Maps each status to a kind, which decides its look. Status names that this page does not know
// count as crashes.
const statusKinds = {
  passed: 'good',
  unsupported: 'idle',
  task_error: 'idle',
  compile_error: 'build',
  load_error: 'build',
  rejected_source: 'build',
  wrong_values: 'wrong',
  wrong_shape: 'wrong',
  nondeterministic: 'wrong',
  implausible: 'wrong',
};

export const kindOf = status =>
    (Object.hasOwn(statusKinds, status) ? statusKinds[status] : 'crash');

export const kindNames = {
  good: 'passed',
  build: 'not built (compiler, loader, source rules)',
  wrong: 'wrong result',
  crash: 'crashed, timed out or left its limits',
  idle: 'no kernel',
};

export const pill = status => element('span', {class: 'pill ' + kindOf(status)}, words(status));

function swatch(shape, className) {
  const svg = d3.create('svg').attr('viewBox', '0 0 12 12').attr('aria-hidden', 'true');
  if (shape === 'line')
    svg.append('line').attr('x1', 0).attr('x2', 12).attr('y1', 6).attr('y2', 6).attr(
        'class', 'line ' + className);
  else if (shape === 'square')
    svg.append('rect').attr('width', 12).attr('height', 12).attr('rx', 2).attr('class', className);
  else
    svg.append('path')
        .attr('transform', 'translate(6,6)')
        .attr('d', d3.symbol().type(symbolTypes[shape]).size(70)())
        .attr('class', className);
  return svg.node();
}

const symbolTypes = {
  circle: d3.symbolCircle,
  star: d3.symbolStar,
  diamond: d3.symbolDiamond,
  triangle: d3.symbolTriangle,
  cross: d3.symbolCross,
  square: d3.symbolSquare
};

// Makes a legend. `entries` is a list of [shape, class, name].
export const legend = entries => element(
    'ul', {class: 'legend'},
    entries.map(([shape, className, name]) => element('li', {}, swatch(shape, className), name)));

export const shapes = {
  good: 'circle',
  build: 'square',
  wrong: 'diamond',
  crash: 'cross',
  idle: 'triangle'
};

export const symbolOf = (trial, area = 110) =>
    symbolPath(trial.isBest ? 'star' : shapes[kindOf(trial.status)], trial.isBest ? 220 : area);

const symbolPaths = new Map();  // thousands of marks share a few shapes

export function symbolPath(shape, area) {
  const key = shape + area;
  if (!symbolPaths.has(key))
    symbolPaths.set(key, d3.symbol().type(symbolTypes[shape]).size(area)());
  return symbolPaths.get(key);
}

export const fillOf = trial => 'fill-' + (trial.isBest ? 'star' : kindOf(trial.status));

export function describe(trial) {
  if (trial.node === 0) return ['the PyTorch module'];
  const lines =
      [`attempt ${trial.node}: ${words(trial.status)}${trial.isBest ? ', the best' : ''}`];
  if (trial.eager) lines.push(formatSpeedup(trial.eager) + ' against eager');
  lines.push(`${trial.role} of ${trial.parent === 0 ? 'the module' : 'attempt ' + trial.parent}`);
  if (trial.bottleneck) lines.push('bottleneck: ' + words(trial.bottleneck));
  if (trial.note) lines.push(trial.note);
  return lines;
}

// A speedup in the colour of what it surely is.
export function speedupText(interval) {
  const sign = signOf(interval);
  return element('span', {class: sign ? sign + '-text' : null}, formatSpeedup(interval));
}
