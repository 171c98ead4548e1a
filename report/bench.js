// The page of a benchmark, which compares strategies over the tasks of a suite.
'use strict';

page.thresholds = [0, 0.5, 0.8, 1, 1.5, 2];

// Returns the name under which a row is compared: its strategy, and its model if there are several.
page.seriesOf = function(rows) {
  const several = new Set(rows.map(r => r.model)).size > 1;
  return row => (several && row.model ? `${row.strategy}, ${row.model}` : row.strategy);
};

// fast_p is the share of all rows that passed and are faster than the baseline by more than p. A
// row without a kernel, or without that figure, still counts in the denominator.
page.fastP = (rows, baseline, p) =>
    (rows.length ?
         rows.filter(r => r.passed && r[baseline] && r[baseline][0] > p).length / rows.length :
         0);

page.summary = function(rows, baseline) {
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
};

// Computes everything that follows from the rows shown. It is drawn again when a filter changes.
page.benchModel = function() {
  const all = page.data.rows;
  const series = page.seriesOf(all);
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
    bench.rows = all.filter(r => !bench.sound || !page.unsound(r));
    bench.onChange.forEach(each => each());
  };
  bench.series = series;
  return bench;
};
page.unsound = row => row.lint === 'degenerate' || row.lint === 'weak';

page.live = function(bench, make) {
  const box = page.element('div');
  const fill = () => {
    box.replaceChildren(...[make()].flat(Infinity).filter(Boolean));
    if (box.isConnected) page.drawAll();
  };
  bench.onChange.push(fill);
  fill();
  return box;
};

page.percent = share => (share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0) + ' %';
page.seriesLegend = bench =>
    page.legend(bench.names.map((name, i) => ['square', 'f' + (i % 8), name]));

page.strategyTable = function(bench) {
  const ratio = value => (value === null || value === undefined ? '–' : page.ratio(value));
  const rows = bench.group(bench.rows)
                   .map(({name, rows: own}) => ({name, own, ...page.summary(own, bench.baseline)}));
  return [
    page.table(
        [
          {title: 'strategy', order: r => r.name, value: r => page.element('b', {}, r.name)},
          {title: 'rows', number: true, value: r => String(r.rows)}, {
            title: 'success',
            number: true,
            order: r => r.success,
            value: r => page.percent(r.success)
          },
          ...page.thresholds.slice(3).map(
              p => ({
                title: `fast ${p}`,
                number: true,
                order: r => page.fastP(r.own, bench.baseline, p),
                value: r => page.percent(page.fastP(r.own, bench.baseline, p))
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
          {title: 'attempts', number: true, value: r => page.count(r.attempts)},
          {title: 'tokens', number: true, value: r => page.count(r.tokens)},
          {title: 'money', number: true, value: r => page.money(r.usd)},
          {title: 'time', number: true, value: r => page.elapsed(r.seconds)}
        ],
        rows, {label: 'Strategies'}),
    page.hint(
        'fast p: share of all rows whose kernel passed and is more than p times as fast as the baseline. Geometric mean, median and mean are over rows that passed; “with fallback” counts a row that did not pass as 1: who has no kernel runs the baseline.')
  ];
};

page.taskTable = function(bench) {
  const state = row =>
      (row.problem                       ? 'task error' :
           row.stopped === 'interrupted' ? 'interrupted' :
           row.passed                    ? 'passed' :
                                           'no kernel passed');
  const median = (row, name) => (row[name] ? row[name][0] : -1);
  const figure = (row, name) => page.element(
      'span', {class: page.sign(row[name]) ? page.sign(row[name]) + '-text' : null},
      page.speedup(row[name]));
  const columns =
      [
        {title: 'task', order: r => r.task, value: r => r.task},
        {title: 'category', order: r => r.category, value: r => page.words(r.category)}, {
          title: 'lint',
          order: r => r.lint,
          value: r =>
              (r.lint ? page.element(
                            'span', {class: page.unsound(r) ? 'bad-text' : null},
                            (r.lint === 'degenerate' ? '⚠ ' : '') + r.lint) :
                        '')
        },
        {
          title: 'strategy',
          order: r => bench.series(r),
          value: r => page.element('span', {class: 'id'}, bench.series(r))
        },
        {title: 'repeat', number: true, order: r => r.repeat, value: r => String(r.repeat)}, {
          title: 'result',
          order: state,
          value: r =>
              page.element(
                  'span', {
                    class: 'pill ' +
                        (r.passed      ? 'good' :
                             r.problem ? 'idle' :
                                         'crash'),
                    title: r.problem || null
                  },
                  state(r))
        },
        {
          title: 'against eager [95 %]',
          number: true,
          order: r => median(r, 'eager'),
          value: r => figure(r, 'eager')
        },
        {
          title: 'against compile [95 %]',
          number: true,
          order: r => median(r, 'compile'),
          value: r => figure(r, 'compile')
        },
        {title: 'attempts', number: true, order: r => r.attempts, value: r => String(r.attempts)}, {
          title: 'tokens',
          number: true,
          order: r => r.tokens,
          value: r => (r.tokens ? page.count(r.tokens) : '–')
        },
        {title: 'time', number: true, order: r => r.seconds, value: r => page.elapsed(r.seconds)},
        {title: 'run', value: r => page.element('span', {class: 'id'}, r.run)}
      ];
  const table = page.table(columns, bench.all, {
    room: 200,
    label: 'Tasks',
    attributes: r => ({class: r.lint === 'degenerate' ? 'degenerate' : null})
  });
  const chosen = {text: '', strategy: '', category: '', result: ''};
  const filter = () => table.use(bench.rows.filter(
      r => (!chosen.text ||
            `${r.task} ${r.category} ${r.run}`.toLowerCase().includes(chosen.text)) &&
          (!chosen.strategy || bench.series(r) === chosen.strategy) &&
          (!chosen.category || r.category === chosen.category) &&
          (!chosen.result || state(r) === chosen.result)));
  bench.onChange.push(filter);
  const select = (label, key, values) => page.element(
      'label', {}, label,
      page.element(
          'select', {
            onchange: e => {
              chosen[key] = e.target.value;
              filter();
            }
          },
          page.element('option', {value: ''}, 'all'),
          [...new Set(values)].filter(Boolean).sort().map(
              v => page.element('option', {value: v}, page.words(v)))));
  return [
    page.element(
        'div', {class: 'tools', id: 'filters'},
        page.element('label', {}, 'find', page.element('input', {
          type: 'search',
          oninput: e => {
            chosen.text = e.target.value.toLowerCase();
            filter();
          }
        })),
        select('strategy', 'strategy', bench.names),
        select('category', 'category', bench.all.map(r => r.category)),
        select('result', 'result', bench.all.map(state))),
    table
  ];
};

page.benchHead = function(bench) {
  const data = page.data, tasks = new Set(bench.all.map(r => r.task)).size;
  const unsound = new Set(bench.all.filter(page.unsound).map(r => r.task)).size;
  const used = bench.all.reduce(
      (best, r) => (r.passed && r.eager && (!best || r.eager[0] > best.eager[0]) ? r : best), null);
  const repeats = d3.max(bench.all, r => r.repeat) || 1;
  return [
    page.element(
        'div', {class: 'head'}, page.element('h1', {}, 'Bench ' + data.name),
        page.element(
            'p', {class: 'soft'},
            `${tasks} tasks × ${bench.names.length} ${
                bench.names.length === 1 ? 'strategy' : 'strategies'}${
                repeats > 1 ? ` × ${repeats} repeats` : ''}: ${bench.names.join(', ')}`),
        data.interrupted ?
            page.element(
                'p', {class: 'bad-text'}, 'This bench was interrupted: rows are missing.') :
            null,
        unsound ?
            page.element(
                'p', {class: 'bad-text'},
                `${unsound} of the tasks cannot tell every wrong kernel from a right one (weak or degenerate); “sound tasks only” leaves them out.`) :
            null),
    page.element(
        'div', {class: 'verdict'}, ...bench.group(bench.all).slice(0, 6).map(({name, rows}) => {
          const sum = page.summary(rows, 'eager');
          return page.stat(
              sum.geomean === null ? 'none passed' : page.ratio(sum.geomean),
              `${name}: geometric mean of ${sum.solved} solved, ${
                  page.percent(sum.success)} success`);
        }),
        used ? page.stat(page.speedup(used.eager), `largest: ${used.task}, ${used.strategy}`) :
               null)
  ];
};

page.benchPage = function() {
  const bench = page.benchModel();
  if (!bench.all.length) return [page.benchHead(bench), page.hint('The bench has no rows.')];
  const baselines = [['eager', 'PyTorch eager'], ['compile', 'torch.compile']].filter(
      ([name]) => bench.all.some(r => r[name]));
  const tools = page.element(
      'div', {class: 'tools'},
      baselines.length > 1 ?
          [
            'baseline',
            page.choice(
                'Baseline', baselines, 'eager',
                value => {
                  bench.baseline = value;
                  bench.update();
                })
          ] :
          null,
      bench.all.some(page.unsound) ?
          page.choice(
              'Tasks', [[false, 'all tasks'], [true, 'sound tasks only']], false,
              value => {
                bench.sound = value;
                bench.update();
              }) :
          null);
  return [
    page.benchHead(bench), tools,
    page.section('strategies', 'Strategies', page.live(bench, () => page.strategyTable(bench))),
    page.element(
        'div', {class: 'pair'},
        page.section('categories', 'By category', page.live(bench, () => page.categoryBars(bench))),
        page.section('fast', 'fast p', page.live(bench, () => page.fastCurves(bench))),
        page.section(
            'distribution', 'Distribution', page.live(bench, () => page.distribution(bench))),
        page.section('curves', 'Best so far', page.live(bench, () => page.benchCurves(bench)))),
    page.section('tasks', 'Tasks', page.taskTable(bench))
  ];
};
