// The page of a benchmark, which compares strategies over the tasks of a suite.

import {benchCurves, categoryBars, distribution, fastCurves} from './bench_charts.js';
import {benchModel, isUnsound, liveBox, summarize} from './bench_figures.js';
import {strategyTable, taskTable} from './bench_tables.js';
import {data} from './data.js';
import {choice, element, hint, section, stat} from './elements.js';
import {formatPercent, formatRatio, formatSpeedup} from './figures.js';

function subtitle(bench, tasks) {
  const strategies = bench.names.length === 1 ? 'strategy' : 'strategies';
  const repeats = d3.max(bench.all, r => r.repeat) || 1;
  return `${tasks} tasks × ${bench.names.length} ${strategies}${
      repeats > 1 ? ` × ${repeats} repeats` : ''}: ${bench.names.join(', ')}`;
}

function benchHead(bench) {
  const tasksOf = rows => new Set(rows.map(r => r.task)).size;
  const unsound = tasksOf(bench.all.filter(isUnsound));
  return element(
      'div', {class: 'head'}, element('h1', {}, 'Bench ' + data.name),
      element('p', {class: 'soft'}, subtitle(bench, tasksOf(bench.all))),
      data.interrupted ?
          element('p', {class: 'bad-text'}, 'This bench was interrupted: rows are missing.') :
          null,
      unsound ?
          element(
              'p', {class: 'bad-text'},
              `${unsound} of the tasks cannot tell every wrong kernel from a right one (weak or degenerate); “sound tasks only” leaves them out.`) :
          null);
}

function strategyStat({name, rows}) {
  const sum = summarize(rows, 'eager');
  return stat(
      sum.geomean === null ? 'none passed' : formatRatio(sum.geomean),
      `${name}: geometric mean of ${sum.solved} solved, ${formatPercent(sum.success)} success`);
}

function benchVerdict(bench) {
  const timed = bench.all.filter(r => r.passed && r.eager);
  const largest = timed[d3.scan(timed, (a, b) => b.eager[0] - a.eager[0])];
  return element(
      'div', {class: 'verdict'}, ...bench.group(bench.all).slice(0, 6).map(strategyStat),
      largest ?
          stat(formatSpeedup(largest.eager), `largest: ${largest.task}, ${largest.strategy}`) :
          null);
}

function benchTools(bench) {
  const baselines = [['eager', 'PyTorch eager'], ['compile', 'torch.compile']].filter(
      ([name]) => bench.all.some(r => r[name]));
  const use = key => value => {
    bench[key] = value;
    bench.update();
  };
  return element(
      'div', {class: 'tools'},
      baselines.length > 1 ? ['baseline', choice('Baseline', baselines, 'eager', use('baseline'))] :
                             null,
      bench.all.some(isUnsound) ?
          choice('Tasks', [[false, 'all tasks'], [true, 'sound tasks only']], false, use('sound')) :
          null);
}

export function benchPage() {
  const bench = benchModel();
  const heads = [benchHead(bench), benchVerdict(bench)];
  if (!bench.all.length) return {content: [heads, hint('The bench has no rows.')]};
  const part = (id, title, make) => section(id, title, liveBox(bench, () => make(bench)));
  return {
    content: [
      heads, benchTools(bench), part('strategies', 'Strategies', strategyTable),
      element(
          'div', {class: 'pair'}, part('categories', 'By category', categoryBars),
          part('fast', 'fast p', fastCurves), part('distribution', 'Distribution', distribution),
          part('curves', 'Best so far', benchCurves)),
      section('tasks', 'Tasks', taskTable(bench))
    ]
  };
}
