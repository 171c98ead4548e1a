// The charts of a run: best so far, roofline, profile comparison.
'use strict';

// Returns the best after each attempt, with what had been spent by then.
page.bestSoFar = function(trials) {
  let tokens = 0, seconds = 0, best = null;
  return trials.map(trial => {
    tokens += trial.tokens;
    seconds += trial.seconds;
    if (trial.best && trial.eager) best = trial.eager;
    return {trial, attempts: trial.node, tokens, seconds, best};
  });
};

page.progressCurve = function(run) {
  const points = page.bestSoFar(run.trials);
  const timed = points.filter(p => p.trial.eager);
  let against = 'attempts';
  const names = {attempts: 'attempts', tokens: 'tokens spent', seconds: 'time spent (s)'};
  const chart = page.chart('Best speedup so far', 320, (svg, width, height) => {
    const size = page.margins(width, height);
    const x = d3.scaleLinear([0, Math.max(1, d3.max(points, p => p[against]))], [
                  size.left, width - size.right
                ]).nice();
    const low = Math.min(
              0.9, d3.quantile(timed.map(p => p.trial.eager[0]).sort(d3.ascending), 0.02) * 0.9),
          high = Math.max(1.2, d3.max(timed, p => p.trial.eager[2]) * 1.08);
    const y = d3.scaleLog([low, high], [height - size.bottom - 14, size.top]).clamp(true);
    page.axes(svg, size, x, y, {x: names[against], y: 'faster than eager by'}, {
      x: against === 'tokens' ? page.count : undefined,
      countsX: against === 'attempts',
      valuesY: page.ratioTicks(low, high),
      y: page.ratioLabel
    });
    svg.append('line')
        .attr('class', 'rule')
        .attr('x1', size.left)
        .attr('x2', width - size.right)
        .attr('y1', y(1))
        .attr('y2', y(1));
    const last = points[points.length - 1];
    const path = points.filter(p => p.best);
    const steps = path.length ? [...path, {...last}] : [];
    svg.append('path')
        .attr('class', 'band f0')
        .attr(
            'd',
            d3.area()
                .curve(d3.curveStepAfter)
                .x(p => x(p[against]))
                .y0(p => y(p.best[1]))
                .y1(p => y(p.best[2]))(steps));
    svg.append('path')
        .attr('class', 'line s0')
        .attr(
            'd',
            d3.line().curve(d3.curveStepAfter).x(p => x(p[against])).y(p => y(p.best[0]))(steps));
    if (timed.length <= 200) {
      svg.append('g')
          .selectAll('line')
          .data(timed)
          .join('line')
          .attr('class', p => 'whisker ' + (p.trial.isBest ? 's-star' : 's-good'))
          .attr('x1', p => x(p[against]))
          .attr('x2', p => x(p[against]))
          .attr('y1', p => y(p.trial.eager[1]))
          .attr('y2', p => y(p.trial.eager[2]));
    }
    const marks = svg.append('g')
                      .selectAll('path')
                      .data(points)
                      .join('path')
                      .attr('class', p => 'dot ' + page.fillOf(p.trial))
                      .attr(
                          'd',
                          p =>
                              (points.length > 200 && !p.trial.isBest ?
                                   page.symbol(page.shapes[page.kind(p.trial.status)], 26) :
                                   page.symbolOf(p.trial)))
                      .attr(
                          'transform',
                          p => `translate(${x(p[against])},${
                              p.trial.eager ? y(p.trial.eager[0]) : height - size.bottom - 6})`)
                      .style('cursor', 'pointer')
                      .on('click', p => run.select(p.trial.node));
    page.hover(marks, p => page.describe(p.trial));
  });
  const choices = [
    ['attempts', 'attempts'],
    ...(points.length && points[points.length - 1].tokens > 0 ? [['tokens', 'tokens']] : []),
    ['seconds', 'time']
  ];
  if (!timed.length) return page.hint('No attempt passed, so there is no curve.');
  return [
    page.element(
        'div', {class: 'tools'}, page.element('span', {class: 'soft'}, 'against'),
        page.choice(
            'Best so far against', choices, against,
            value => {
              against = value;
              chart.redraw();
            })),
    chart,
    page.hint(
        'The line is the best so far as it was measured in the search, the band its 95 % interval; each mark is an attempt with its own interval, those that did not pass stand at the bottom.')
  ];
};

page.roofline = function(run) {
  const task = page.data.task, roofs = page.data.roofs;
  if (!roofs || !task.flops)
    return page.hint(
        'No roofline: no profile of this run states its roofs (the strategy may take no profiles, or the machine was not measured).');
  const gflops = ms => task.flops / ms / 1e6;
  const attempts = run.trials.filter(t => t.ms).map(
      t => ({trial: t, x: roofs.intensity, y: gflops(t.ms[0]), name: page.describe(t)}));
  const final = run.final;
  const baselines = final && final.baseline ?
      [['eager', 'PyTorch eager', 'square'], ['compile', 'torch.compile', 'diamond']]
          .filter(([key]) => final.baseline[key])
          .map(([key, name, shape]) => ({
                 name,
                 shape,
                 x: roofs.intensity,
                 y: gflops(final.baseline[key].median_ms),
                 ms: page.timeOf(final.baseline[key])
               })) :
      [];
  const own = roofs.bandwidth[0];
  const levels = roofs.bandwidth.slice(1);
  const chart = page.chart('Roofline', 320, (svg, width, height) => {
    const size = page.margins(width, height);
    const ys = [...attempts, ...baselines].map(p => p.y);
    const ridge = roofs.gflops / own.gbs;
    const x = d3.scaleLog(
        [Math.min(roofs.intensity, ridge) / 5, Math.max(roofs.intensity, ridge) * 5],
        [size.left, width - size.right]);
    const y = d3.scaleLog(
        [Math.min(d3.min(ys), roofs.gflops) / 3, Math.max(d3.max(ys), roofs.gflops) * 2],
        [height - size.bottom, size.top]);
    const label = v => d3.format(v < 1 ? '.1~r' : ',d')(v);
    const ticks = domain => page.ratioTicks(domain[0], domain[1]);
    page.axes(
        svg, size, x, y, {x: 'arithmetic intensity of the task (FLOP per byte)', y: 'GFLOP/s'},
        {valuesX: ticks(x.domain()), x: label, valuesY: ticks(y.domain()), y: label});
    const clip = (gbs, className) => {
      const from = Math.max(x.domain()[0], y.domain()[0] / gbs),
            to = Math.min(roofs.gflops / gbs, x.domain()[1]);
      if (to <= from) return null;
      svg.append('line')
          .attr('class', className)
          .attr('x1', x(from))
          .attr('y1', y(from * gbs))
          .attr('x2', x(to))
          .attr('y2', y(to * gbs));
      return {from, to};
    };
    const corner = Math.max(x.domain()[0], ridge);
    svg.append('line')
        .attr('class', 'line s-soft')
        .attr('x1', x(corner))
        .attr('x2', x(x.domain()[1]))
        .attr('y1', y(roofs.gflops))
        .attr('y2', y(roofs.gflops));
    svg.append('text')
        .attr('class', 'fill-soft')
        .attr('text-anchor', 'end')
        .attr('x', width - size.right)
        .attr('y', y(roofs.gflops) - 6)
        .text(`${page.digits(roofs.gflops)} GFLOP/s`);
    const main = clip(own.gbs, 'line s-soft');
    levels.forEach(level => clip(level.gbs, 'rule'));
    if (main)
      svg.append('text')
          .attr('class', 'fill-soft')
          .attr('text-anchor', 'end')
          .attr('x', x(Math.sqrt(main.from * main.to)) - 8)
          .attr('y', y(Math.sqrt(main.from * main.to) * own.gbs) - 4)
          .text(`${page.digits(own.gbs)} GB/s`);
    svg.append('line')
        .attr('class', 'rule')
        .attr('x1', x(roofs.intensity))
        .attr('x2', x(roofs.intensity))
        .attr('y1', size.top)
        .attr('y2', height - size.bottom);
    page.hover(
        svg.append('g')
            .selectAll('path')
            .data(attempts)
            .join('path')
            .attr('class', p => 'dot ' + page.fillOf(p.trial))
            .attr('d', p => page.symbolOf(p.trial))
            .attr('transform', p => `translate(${x(p.x)},${y(p.y)})`)
            .style('cursor', 'pointer')
            .on('click', p => run.select(p.trial.node)),
        p => [...p.name, `${page.digits(p.y)} GFLOP/s, ${page.millis(p.trial.ms)}`]);
    page.hover(
        svg.append('g')
            .selectAll('path')
            .data(baselines)
            .join('path')
            .attr('class', 'dot fill-ink')
            .attr('d', p => page.symbol(p.shape, 80))
            .attr('transform', p => `translate(${x(p.x)},${y(p.y)})`),
        p => [p.name, `${page.digits(p.y)} GFLOP/s, ${page.millis(p.ms)}`]);
    const bestMark = attempts.find(p => p.trial.isBest);
    if (bestMark)
      svg.append('path')
          .attr('class', 'dot fill-star')
          .attr('d', page.symbolOf(bestMark.trial))
          .attr('transform', `translate(${x(bestMark.x)},${y(bestMark.y)})`)
          .style('pointer-events', 'none');
    const noted = [
      ...(bestMark ? [{...bestMark, text: 'best'}] : []),
      ...baselines.map(b => ({...b, text: b.name}))
    ];
    svg.append('g')
        .selectAll('text')
        .data(noted)
        .join('text')
        .attr('x', p => x(p.x) + 12)
        .attr('y', p => y(p.y) + 4)
        .text(p => p.text);
  });
  return [
    chart, page.legend([
      ['star', 'fill-star', 'the best'], ['circle', 'fill-good', 'attempts that passed'],
      ['square', 'fill-ink', 'PyTorch eager'], ['diamond', 'fill-ink', 'torch.compile'],
      ['line', 's-soft', 'roofs of the task’s data']
    ].filter(([shape]) => shape !== 'diamond' || baselines.length > 1)),
    page.hint(
        `Rates count the task's FLOPs as written (${
            page.count(
                task.flops)}) per compulsory byte. Roofs: measured peak and the bandwidth of the level where the data lives, as the profiles imply them`,
        levels.length ?
            `; dashed: ${levels.map(l => `${l.level} ${page.digits(l.gbs)} GB/s`).join(', ')}.` :
            '.')
  ];
};

page.profileComparison = function(run) {
  const withProfile = run.trials.filter(t => t.profiled);
  if (!withProfile.length || !run.best) return page.hint('No attempt has a profile to compare.');
  const box = page.element('div');
  const other = page.element('span', {class: 'soft'});
  run.onSelect.push(async node => {
    const rows = await Promise.all([
      run.best, node === run.best ? run.byNode.get(run.best).parent : node
    ].filter(n => n > 0).map(n => page.trialDetails(run, n)));
    if (run.selected !== node) return;
    const [best, current] = rows;
    if (!best.profile) {
      box.replaceChildren(page.hint('The best attempt has no profile.'));
      return;
    }
    if (!current || !current.profile) {
      other.textContent =
          current ? `Attempt ${current.node} has no profile; the best alone:` : 'The best alone:';
      box.replaceChildren(page.metricTable([['best', best]]));
      return;
    }
    other.textContent = `Attempt ${best.node} (best) against attempt ${current.node} (${
        node === run.best ? 'its parent' : 'selected'}); the largest changes first.`;
    box.replaceChildren(
        page.diagnosisBars([['best', best], [`attempt ${current.node}`, current]]),
        page.metricTable([['best', best], [`attempt ${current.node}`, current]]));
    page.drawAll();
  });
  return [other, box];
};

// Shows how much of the time each diagnosed bottleneck can explain.
page.diagnosisBars = function(versions) {
  const classes = [...new Set(versions.flatMap(([, t]) => t.profile.diagnosis.map(d => d.class)))];
  if (!classes.length) return page.hint('Neither profile names a bottleneck.');
  const row = 18, head = 6;
  const figure = page.chart(
      'Share of the time that each bottleneck can explain',
      classes.length * (row * versions.length + 10) + head, (svg, width) => {
        const left = Math.min(170, width * 0.4), x = d3.scaleLinear([0, 1], [left, width - 60]);
        classes.forEach((name, i) => {
          const top = head + i * (row * versions.length + 10);
          svg.append('text')
              .attr('text-anchor', 'end')
              .attr('x', left - 8)
              .attr('y', top + row * versions.length / 2 + 4)
              .text(page.words(name));
          versions.forEach(([who, trial], j) => {
            const found = trial.profile.diagnosis.find(d => d.class === name);
            const score = found ? found.score : 0;
            svg.append('rect')
                .attr('class', 'f' + j)
                .attr('rx', 2)
                .attr('x', left)
                .attr('y', top + j * row + 1)
                .attr('height', row - 3)
                .attr('width', Math.max(1, x(score) - left));
            svg.append('text')
                .attr('class', 'fill-soft')
                .attr('x', x(score) + 5)
                .attr('y', top + j * row + 13)
                .text(found ? `${(score * 100).toFixed(0)} %` : 'not named');
          });
        });
      });
  return page.element(
      'div', {}, page.legend(versions.map(([who], j) => ['square', 'f' + j, who])), figure,
      page.hint(
          'Share of the time that a diagnosed bottleneck can explain (estimates; they may overlap).'));
};
