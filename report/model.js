// The page of a whole model: its time before and after, its parts, and what stayed with Torch.

import {makeChart, margins} from './charts.js';
import {data} from './data.js';
import {element, factList, hint, section, stat} from './elements.js';
import {formatCount, formatPercent, formatSeconds, formatSpeedup, formatTime, intervalOf, signOf} from './figures.js';
import {makeTable} from './table.js';
import {hover} from './tip.js';

const placeOf = part => (part.path || 'the model') +
    (part.uses > 1 ? ` and ${part.uses - 1} more` : '') +
    (part.compiled ? ', as torch.compile calls it' : '');
const isKept = part => part.outcome === 'kept';
const toBaselines = {
  eager: 'over PyTorch eager',
  compile: 'over torch.compile'
};

function head(result) {
  const {model, environment} = result;
  return element(
      'div', {class: 'head'}, element('h1', {}, 'Model ' + model.name),
      element(
          'p', {class: 'soft'},
          `${model.class}, ${formatCount(model.parameters)} parameters, ${
              formatCount(model.operators)} operators in ${callsOf(model)}; ${
              environment.gpu ? environment.gpu + ', ' : ''}${environment.cpu}, ${
              environment.threads} threads, torch ${environment.torch}`));
}

function verdict(whole, kept) {
  if (!kept)
    return element(
        'div', {class: 'verdict'},
        stat('nothing kept', 'no kernel makes the whole model faster', 'main'));
  const gains = Object.keys(toBaselines).map(side => [side, intervalOf(whole.speedup[side])]);
  return element(
      'div', {class: 'verdict'},
      gains.filter(([, gain]) => gain)
          .map(([side,
                 gain]) => stat(formatSpeedup(gain), toBaselines[side], 'main ' + signOf(gain))),
      stat(
          whole.error.rel_l2.toExponential(1),
          `error of the results, relative, against ${whole.error.reference}; Torch's own is ${
              whole.error.honest_rel_l2.toExponential(
                  1)}, allowed ${whole.error.limit.toExponential(1)}`));
}

// Returns the bars of the picture: the parts of eager's time, and what is left of them with
// kernels. How the rest is divided among the parts is estimated from their own speedups.
function bars(result) {
  const {whole, parts} = result;
  const before = whole.eager_ms.median;
  // The forms in which only torch.compile calls the parts take the same time once more.
  const pieces =
      parts.filter(p => !p.compiled).map(p => ({name: p.class, part: p, ms: p.share * before}));
  pieces.push(
      {name: 'Torch\'s own', part: null, ms: Math.max(0, before - d3.sum(pieces, p => p.ms))});
  const rows = [{name: 'PyTorch eager', total: intervalOf(whole.eager_ms), pieces}];
  if (whole.compile_ms)
    rows.push({
      name: 'torch.compile',
      total: intervalOf(whole.compile_ms),
      pieces: [{name: 'torch.compile', part: null, ms: whole.compile_ms.median}]
    });
  if (!result.folder) return rows;
  if (whole.compiled_kernels_ms)
    rows.push({
      name: 'kernels, compiled',
      total: intervalOf(whole.compiled_kernels_ms),
      pieces: [
        {name: 'torch.compile around the kernels', part: null, ms: whole.compiled_kernels_ms.median}
      ]
    });
  const faster = pieces.map(
      p => ({
        ...p,
        ms: p.part && isKept(p.part) && p.part.speedup ? p.ms / p.part.speedup.median : p.ms
      }));
  const scale = whole.kernels_ms.median / d3.sum(faster, p => p.ms);
  rows.push({
    name: 'with kernels',
    total: intervalOf(whole.kernels_ms),
    pieces: faster.map(p => ({...p, ms: p.ms * scale}))
  });
  return rows;
}

function drawBars(svg, width, rows) {
  const size = {...margins(width, 0), left: 130, right: 190};
  const x = d3.scaleLinear([0, d3.max(rows, r => r.total[0])], [size.left, width - size.right]);
  rows.forEach((row, i) => {
    const y = 14 + i * 46;
    svg.append('text')
        .attr('class', 'fill-soft')
        .attr('x', size.left - 10)
        .attr('y', y + 19)
        .attr('text-anchor', 'end')
        .text(row.name);
    let begin = 0;
    const placed = row.pieces.map(
        (piece, number) => ({...piece, number, begin: (begin += piece.ms) - piece.ms}));
    const marks = svg.append('g')
                      .selectAll('rect')
                      .data(placed)
                      .join('rect')
                      .attr('class', p => 'f' + (p.part ? p.number % 6 : 6))
                      .attr('x', p => x(p.begin))
                      .attr('width', p => Math.max(0, x(p.begin + p.ms) - x(p.begin) - 1))
                      .attr('y', y)
                      .attr('height', 30);
    hover(
        marks,
        p => [p.part ? `${p.name}, ${placeOf(p.part)}` : p.name, `about ${p.ms.toFixed(1)} ms`]);
    svg.append('text')
        .attr('class', 'fill-soft')
        .attr('x', x(row.total[0]) + 8)
        .attr('y', y + 19)
        .text(formatTime(row.total));
  });
}

function callsOf(model) {
  return model.calls > 1 ? `all ${model.calls} calls` : 'one call';
}

function picture(result) {
  if (!result.whole)
    return hint('No part of the model has a faster kernel, so the whole was not timed.');
  const rows = bars(result);
  return [
    makeChart(
        `Time of ${callsOf(result.model)} before and after`, rows.length * 46 + 20,
        (svg, width) => drawBars(svg, width, rows)),
    hint(
        'Timed in pairs. Colours are the parts below; how the time with kernels is divided among them is estimated.')
  ];
}

function parts(result) {
  const columns = [
    {title: 'part', value: p => p.name}, {title: 'class', value: p => p.class},
    {title: 'where', value: placeOf},
    {title: 'operators', value: p => String(p.operators), number: true, order: p => p.operators}, {
      title: 'of eager\'s time',
      value: p => formatPercent(p.share),
      number: true,
      order: p => p.share
    },
    {
      title: 'part over eager',
      value: p => formatSpeedup(intervalOf(p.speedup)),
      number: true,
      order: p => p.speedup?.median || 0
    },
    {
      title: 'whole with it',
      value: p => formatSpeedup(intervalOf(p.whole)),
      number: true,
      order: p => p.whole?.median || 0
    },
    {
      title: 'outcome',
      value: p => element('span', {class: isKept(p) ? 'good-text' : ''}, p.outcome)
    },
    {title: 'runs', value: p => p.runs.join(', ')}
  ];
  return makeTable(columns, result.parts, {label: 'parts of the model'});
}

function left(result) {
  if (!result.left.length) return null;
  const columns = [
    {title: 'module', value: l => l.path || 'the model'}, {title: 'class', value: l => l.class}, {
      title: 'of eager\'s time',
      value: l => formatPercent(l.share),
      number: true,
      order: l => l.share
    },
    {title: 'why', value: l => l.why}
  ];
  return section(
      'left', 'What stays with Torch',
      makeTable(columns, result.left, {label: 'modules that stay with Torch'}));
}

const mebibytes = bytes => `${Math.round(bytes / 2 ** 20)} MiB`;

function facts(result) {
  const {whole} = result;
  if (!whole) return null;
  return section(
      'facts', 'Other figures', factList([
        ['rounds of timing', String(whole.rounds)],
        [
          'first call with kernels',
          result.folder ? formatSeconds(whole.first_call_s.kernels) : null
        ],
        ['first call, eager', formatSeconds(whole.first_call_s.eager)],
        ['peak memory with kernels', result.folder ? mebibytes(whole.peak_bytes.kernels) : null],
        ['peak memory, eager', mebibytes(whole.peak_bytes.eager)],
        ['mode of torch.compile', whole.compile_mode || null],
        ['torch.compile', whole.compile_failure ? 'not measured: ' + whole.compile_failure : null]
      ]));
}

export function modelPage() {
  const {result} = data;
  return {
    content: [
      head(result), result.whole ? verdict(result.whole, Boolean(result.folder)) : null,
      section('time', `Time of ${callsOf(result.model)}`, picture(result)),
      section('parts', 'Parts', parts(result)), left(result), facts(result)
    ]
  };
}
