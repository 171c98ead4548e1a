// The tables of a benchmark.

import {fastP, isUnsound, summarize, thresholds} from './bench_figures.js';
import {element, hint} from './elements.js';
import {formatCount, formatMoney, formatPercent, formatRatio, formatSeconds, words} from './figures.js';
import {speedupText} from './status.js';
import {makeTable} from './table.js';

export function strategyTable(bench) {
  const ratio = value => (value === null || value === undefined ? '–' : formatRatio(value));
  const rows = bench.group(bench.rows)
                   .map(({name, rows: own}) => ({name, own, ...summarize(own, bench.baseline)}));
  return [
    makeTable(
        [
          {title: 'strategy', order: r => r.name, value: r => element('b', {}, r.name)},
          {title: 'rows', number: true, value: r => String(r.rows)}, {
            title: 'success',
            number: true,
            order: r => r.success,
            value: r => formatPercent(r.success)
          },
          ...thresholds.slice(3).map(p => ({
                                       title: `fast ${p}`,
                                       number: true,
                                       order: r => fastP(r.own, bench.baseline, p),
                                       value: r => formatPercent(fastP(r.own, bench.baseline, p))
                                     })),
          {
            title: 'geomean',
            number: true,
            order: r => r.geomean || 0,
            value: r => ratio(r.geomean)
          },
          {
            title: 'with fallback',
            number: true,
            order: r => r.fallback,
            value: r => ratio(r.fallback)
          },
          {title: 'median', number: true, order: r => r.median || 0, value: r => ratio(r.median)},
          {title: 'mean', number: true, order: r => r.mean || 0, value: r => ratio(r.mean)},
          {title: 'attempts', number: true, value: r => formatCount(r.attempts)},
          {title: 'tokens', number: true, value: r => formatCount(r.tokens)},
          {title: 'money', number: true, value: r => formatMoney(r.usd)},
          {title: 'time', number: true, value: r => formatSeconds(r.seconds)}
        ],
        rows, {label: 'Strategies'}),
    hint(
        'fast p: share of all rows whose kernel passed and is more than p times as fast as the baseline. Geometric mean, median and mean are over rows that passed; “with fallback” counts a row that did not pass as 1: who has no kernel runs the baseline.')
  ];
}

function stateOf(row) {
  if (row.problem) return 'task error';
  if (row.stopped === 'interrupted') return 'interrupted';
  return row.passed ? 'passed' : 'no kernel passed';
}

function statePill(row) {
  const look = row.passed ? 'good' : row.problem ? 'idle' : 'crash';
  return element('span', {class: 'pill ' + look, title: row.problem || null}, stateOf(row));
}

function lintText(row) {
  if (!row.lint) return '';
  const mark = row.lint === 'degenerate' ? '⚠ ' : '';
  return element('span', {class: isUnsound(row) ? 'bad-text' : null}, mark + row.lint);
}

function taskColumns(bench) {
  const identifier = text => element('span', {class: 'id'}, text);
  const against = name => ({
    title: `against ${name} [95 %]`,
    number: true,
    order: r => (r[name] ? r[name][0] : -1),
    value: r => speedupText(r[name])
  });
  return [
    {title: 'task', order: r => r.task, value: r => r.task},
    {title: 'category', order: r => r.category, value: r => words(r.category)},
    {title: 'lint', order: r => r.lint, value: lintText},
    {title: 'strategy', order: r => bench.series(r), value: r => identifier(bench.series(r))},
    {title: 'repeat', number: true, order: r => r.repeat, value: r => String(r.repeat)},
    {title: 'result', order: stateOf, value: statePill}, against('eager'), against('compile'),
    {title: 'attempts', number: true, order: r => r.attempts, value: r => String(r.attempts)}, {
      title: 'tokens',
      number: true,
      order: r => r.tokens,
      value: r => (r.tokens ? formatCount(r.tokens) : '–')
    },
    {title: 'time', number: true, order: r => r.seconds, value: r => formatSeconds(r.seconds)},
    {title: 'run', value: r => identifier(r.run)}
  ];
}

// Makes the fields that narrow the table. Each change is noted in `chosen`.
function taskFilters(bench, chosen, filter) {
  const note = key => event => {
    chosen[key] = event.target.value;
    filter();
  };
  const option = value => element('option', {value}, words(value));
  const select = (key, values) => element(
      'label', {}, key,
      element(
          'select', {onchange: note(key)}, element('option', {value: ''}, 'all'),
          [...new Set(values)].filter(Boolean).sort().map(option)));
  return element(
      'div', {class: 'tools', id: 'filters'},
      element('label', {}, 'find', element('input', {type: 'search', oninput: note('text')})),
      select('strategy', bench.names), select('category', bench.all.map(r => r.category)),
      select('result', bench.all.map(stateOf)));
}

export function taskTable(bench) {
  const table = makeTable(taskColumns(bench), bench.all, {
    room: 200,
    label: 'Tasks',
    attributes: r => ({class: r.lint === 'degenerate' ? 'degenerate' : null})
  });
  const chosen = {text: '', strategy: '', category: '', result: ''};
  const isChosen = r =>
      `${r.task} ${r.category} ${r.run}`.toLowerCase().includes(chosen.text.toLowerCase()) &&
      (!chosen.strategy || bench.series(r) === chosen.strategy) &&
      (!chosen.category || r.category === chosen.category) &&
      (!chosen.result || stateOf(r) === chosen.result);
  const filter = () => table.use(bench.rows.filter(isChosen));
  bench.onChange.push(filter);
  return [taskFilters(bench, chosen, filter), table];
}
