// The charts of a benchmark.
'use strict';

page.categoryBars = function(bench) {
  const categories = [...new Set(bench.rows.map(r => r.category || 'unnamed'))].sort();
  const series = bench.group(bench.rows).map(({name, rows}) => {
    const values = new Map(), counts = new Map();
    for (const category of categories) {
      const own = rows.filter(r => (r.category || 'unnamed') === category);
      const sum = page.summary(own, bench.baseline);
      if (own.length) {
        values.set(category, sum.fallback);
        counts.set(
            category,
            `${page.ratio(sum.fallback)} with fallback, ${sum.solved} of ${own.length} passed`);
      }
    }
    return {name, values, counts};
  });
  const top = Math.max(1.2, d3.max(series.flatMap(s => [...s.values.values()])) * 1.12);
  return [
    page.chart(
        'Speedup by category', width => (width < 700 ? 330 : 300),
        (svg, width, height) => page.bars(svg, width, height, {
          groups: categories,
          series,
          top,
          slant: width / categories.length < 110,
          name: 'geometric mean speedup',
          format: v => page.ratioLabel(v),
          tell: (one, group) => one.counts.get(group)
        })),
    page.seriesLegend(bench),
    page.hint('Geometric mean over the tasks of a category; a task without a kernel counts as 1.')
  ];
};

page.fastCurves = function(bench) {
  const groups = bench.group(bench.rows).filter(g => g.rows.length);
  const high = Math.max(
      2, d3.max(bench.rows, r => (r.passed && r[bench.baseline] ? r[bench.baseline][0] : 1)));
  return [
    page.chart(
        'Share of tasks faster than p', 300,
        (svg, width, height) => {
          const size = page.margins(width, height);
          const x = d3.scaleLog([0.25, high * 1.1], [size.left, width - size.right]).clamp(true),
                y = d3.scaleLinear([0, 1], [height - size.bottom, size.top]);
          page.axes(svg, size, x, y, {x: 'p (times as fast as the baseline)', y: 'fast p'}, {
            valuesX: page.ratioTicks(0.25, high * 1.1),
            x: page.ratioLabel,
            y: d3.format('.0%')
          });
          svg.append('line')
              .attr('class', 'rule')
              .attr('x1', x(1))
              .attr('x2', x(1))
              .attr('y1', size.top)
              .attr('y2', height - size.bottom);
          groups.forEach(group => {
            const i = bench.names.indexOf(group.name) % 8;
            const marks = [
              0.25,
              ...group.rows.filter(r => r.passed && r[bench.baseline])
                  .map(r => r[bench.baseline][0])
                  .sort(d3.ascending),
              high * 1.1
            ];
            svg.append('path')
                .attr('class', 'line s' + i)
                .attr(
                    'd',
                    d3.line().curve(d3.curveStepAfter)(
                        marks.map(p => [x(p), y(page.fastP(group.rows, bench.baseline, p))])));
            page.hover(
                svg.append('g')
                    .selectAll('circle')
                    .data(page.thresholds.filter(p => p >= 0.25))
                    .join('circle')
                    .attr('class', 'dot f' + i)
                    .attr('r', 4)
                    .attr('cx', p => x(p))
                    .attr('cy', p => y(page.fastP(group.rows, bench.baseline, p))),
                p =>
                    [group.name,
                     `fast ${p}: ${page.percent(page.fastP(group.rows, bench.baseline, p))}`]);
          });
        }),
    page.seriesLegend(bench)
  ];
};

// Draws one mark for each row, and one lane for each strategy.
page.distribution = function(bench) {
  const groups = bench.group(bench.rows);
  const timed = bench.rows.filter(r => r.passed && r[bench.baseline]);
  if (!timed.length) return page.hint('No row has this figure.');
  const low = Math.min(0.8, d3.min(timed, r => r[bench.baseline][0]) * 0.9),
        high = Math.max(1.5, d3.max(timed, r => r[bench.baseline][0]) * 1.1);
  const lane = 52;
  return [
    page.chart(
        'Distribution of speedups', 66 + lane * groups.length,
        (svg, width, height) => {
          const size = {...page.margins(width, height), left: Math.min(130, width * 0.3), top: 12};
          const x = d3.scaleLog([low, high], [size.left, width - size.right]);
          page.axes(
              svg, size, x, d3.scalePoint([], [height - size.bottom, size.top]),
              {x: 'times as fast as the baseline', y: ''},
              {valuesX: page.ratioTicks(low, high), x: page.ratioLabel});
          svg.append('line')
              .attr('class', 'rule')
              .attr('x1', x(1))
              .attr('x2', x(1))
              .attr('y1', size.top)
              .attr('y2', height - size.bottom);
          groups.forEach((group, i) => {
            const middle = size.top + lane * (i + 0.5),
                  own = group.rows.filter(r => r.passed && r[bench.baseline]);
            const label = svg.append('text').attr('text-anchor', 'end').attr('x', size.left - 8);
            label.append('tspan')
                .attr('x', size.left - 8)
                .attr('y', middle)
                .text(group.name.slice(0, 18));
            label.append('tspan')
                .attr('class', 'fill-soft')
                .attr('x', size.left - 8)
                .attr('y', middle + 15)
                .text(`${group.rows.length - own.length} failed`);
            const values = own.map(r => r[bench.baseline][0]).sort(d3.ascending);
            if (values.length > 2) {
              const [a, m, b] = [0.25, 0.5, 0.75].map(q => d3.quantile(values, q));
              svg.append('rect')
                  .attr('class', 'band f' + (i % 8))
                  .attr('x', x(a))
                  .attr('width', Math.max(1, x(b) - x(a)))
                  .attr('y', middle - 15)
                  .attr('height', 30)
                  .attr('rx', 3);
              svg.append('line')
                  .attr('class', 'line s' + (i % 8))
                  .attr('x1', x(m))
                  .attr('x2', x(m))
                  .attr('y1', middle - 15)
                  .attr('y2', middle + 15);
            }
            page.hover(
                svg.append('g')
                    .selectAll('circle')
                    .data(own)
                    .join('circle')
                    .attr('class', 'dot f' + (i % 8))
                    .attr('r', 5)
                    .attr('cx', r => x(r[bench.baseline][0]))
                    .attr('cy', (r, n) => middle + ((n % 5) - 2) * 4.5),
                r => [r.task, page.speedup(r[bench.baseline])]);
          });
        }),
    page.hint(
        'Each mark is a task that was solved; the box is the middle half, its line the median.')
  ];
};

// Draws the geometric mean of the best so far, over all rows (1 until something has passed).
page.benchCurves = function(bench) {
  const groups = bench.group(bench.rows)
                     .map(g => ({...g, rows: g.rows.filter(r => r.curve.length)}))
                     .filter(g => g.rows.length);
  if (!groups.length)
    return page.hint('The result holds no curves; name the store of its runs with --home.');
  let against = 'attempt';
  const chart = page.chart('Best so far', 300, (svg, width, height) => {
    const size = page.margins(width, height);
    const end = d3.max(groups, g => d3.max(g.rows, r => r.curve[r.curve.length - 1][against]));
    const grid =
        against === 'attempt' ? d3.range(0, end + 1) : d3.range(0, 61).map(i => (end * i) / 60);
    const at = (row, limit) => {
      let value = 1;
      for (const p of row.curve)
        if (p[against] <= limit && p.best !== null) value = p.best;
      return value;
    };
    const lines = groups.map(
        g => ({
          name: g.name,
          points: grid.map(limit => [limit, Math.exp(d3.mean(g.rows, r => Math.log(at(r, limit))))])
        }));
    const x = d3.scaleLinear([0, end], [size.left, width - size.right]),
          high = Math.max(1.2, d3.max(lines, l => d3.max(l.points, p => p[1])) * 1.08),
          low = Math.min(1, d3.min(lines, l => d3.min(l.points, p => p[1])));
    const y = d3.scaleLinear([low, high], [height - size.bottom, size.top]);
    page.axes(
        svg, size, x, y, {
          x: against === 'attempt' ? 'attempts per task' : 'tokens per task',
          y: 'geometric mean of the best so far'
        },
        {
          x: against === 'tokens' ? page.count : undefined,
          countsX: against === 'attempt',
          y: page.ratioLabel
        });
    lines.forEach(line => {
      const i = bench.names.indexOf(line.name) % 8;
      page.hover(
          svg.append('path')
              .datum(line)
              .attr('class', 'line s' + i)
              .attr(
                  'd',
                  d3.line().curve(d3.curveStepAfter).x(p => x(p[0])).y(p => y(p[1]))(line.points)),
          l => [l.name, `${page.ratio(l.points[l.points.length - 1][1])} at the end`]);
    });
  });
  return [
    page.element(
        'div', {class: 'tools'},
        page.choice(
            'Against', [['attempt', 'attempts'], ['tokens', 'tokens']], against,
            value => {
              against = value;
              chart.redraw();
            })),
    chart, page.seriesLegend(bench),
    page.hint(
        'Against eager, over all rows with a curve; a task counts as 1 until it has a kernel. Runs that ended keep their value.')
  ];
};
