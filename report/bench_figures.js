// The figures of a comparison, and what is drawn again when its rows change.

import {drawAll} from './charts.js';
import {data} from './data.js';
import {element} from './elements.js';
import {legend} from './status.js';

export const thresholds = [0, 0.5, 0.8, 1, 1.5, 2];

// Returns the name under which a row is compared: its strategy, and its model if there are several.
function seriesOf(rows) {
  const several = new Set(rows.map(r => r.model)).size > 1;
  return row => (several && row.model ? `${row.strategy}, ${row.model}` : row.strategy);
}

// fast_p is the share of all rows that passed and are faster than the baseline by more than p. A
// row without a kernel, or without that figure, still counts in the denominator.
export const fastP = (rows, baseline, p) =>
    (rows.length ?
         rows.filter(r => r.passed && r[baseline] && r[baseline][0] > p).length / rows.length :
         0);

export function summarize(rows, baseline) {
  const speedups = rows.filter(r => r.passed && r[baseline]).map(r => r[baseline][0]);
  const withFallback = rows.map(r => (r.passed && r[baseline] ? r[baseline][0] : 1));
  const geometric = list => (list.length ? Math.exp(d3.mean(list, Math.log)) : null);
  return {
    rows: rows.length,
    success: rows.filter(r => r.passed).length / Math.max(1, rows.length),
    geomean: geometric(speedups),
    fallback: geometric(withFallback),
    mean: d3.mean(speedups),
    median: d3.median(speedups),
    solved: speedups.length,
    attempts: d3.sum(rows, r => r.attempts),
    tokens: d3.sum(rows, r => r.tokens),
    usd: d3.sum(rows, r => r.usd),
    seconds: d3.sum(rows, r => r.seconds)
  };
}

// Computes everything that follows from the rows shown. It is drawn again when a filter changes.
export function benchModel() {
  const all = data.rows;
  const series = seriesOf(all);
  const bench = {
    all,
    rows: all,
    baseline: 'eager',
    sound: false,
    names: [...new Set(all.map(series))],
    onChange: []
  };
  bench.group = rows =>
      bench.names.map(name => ({name, rows: rows.filter(r => series(r) === name)}));
  bench.update = () => {
    bench.rows = all.filter(r => !bench.sound || !isUnsound(r));
    bench.onChange.forEach(each => each());
  };
  bench.series = series;
  return bench;
}

export const isUnsound = row => row.lint === 'degenerate' || row.lint === 'weak';

export function liveBox(bench, make) {
  const box = element('div');
  const fill = () => {
    box.replaceChildren(...[make()].flat(Infinity).filter(Boolean));
    if (box.isConnected) drawAll();
  };
  bench.onChange.push(fill);
  fill();
  return box;
}

export const seriesLegend = bench =>
    legend(bench.names.map((name, i) => ['square', 'f' + (i % 8), name]));
