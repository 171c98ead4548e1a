// The panel of one attempt, which shows everything that is known about it.
'use strict';

page.trialDetails = async function(run, node) {
  const chunk =
      await page.block('trials-' + Math.floor((node - 1) / page.data.chunk), 'trial-lines');
  return chunk[(node - 1) % page.data.chunk];
};

page.sourceOf = trial => Object.entries((trial.candidate && trial.candidate.files) || {})[0] || [];

page.facts = pairs => page.element(
    'dl', {class: 'facts'},
    pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => [page.element('dt', {}, name), page.element('dd', {}, value)]));

page.metricsOf = function(trial) {
  const packed = trial.profile && trial.profile.metrics;
  if (!packed || !packed.kinds) return new Map();
  return new Map(packed.kinds.split(',').map((kind, i) => {
    const [tag, unit, source] = page.data.metrics[kind];
    return [tag, {tag, value: packed.values[i], unit, source}];
  }));
};

page.meaning = tag => (Object.hasOwn(page.data.meanings, tag) ? page.data.meanings[tag] : null);

page.metricText = function(metric) {
  if (!metric || metric.value === null) return '–';
  return page.digits(metric.value) + (metric.unit === '1' ? '' : ' ' + metric.unit);
};

// Shows the difference of two texts as added and removed lines, with three lines around each
// change.
page.diff = function(before, after) {
  const around = 3;
  const box =
      page.element('pre', {class: 'diff', tabindex: 0, 'aria-label': 'Difference to the parent'});
  const parts = Diff.diffLines(before, after, {maxEditLength: 4000});
  if (!parts) return page.hint('The two sources differ too much to be compared line by line.');
  const put = (kind, mark, lines) => {
    for (const line of lines) box.append(page.element('span', {class: kind}, mark + line));
  };
  parts.forEach((part, i) => {
    const lines = part.value.replace(/\n$/, '').split('\n');
    if (part.added)
      put('added', '+ ', lines);
    else if (part.removed)
      put('removed', '− ', lines);
    else if (lines.length > 2 * around + 1) {
      if (i > 0) put('same', '  ', lines.slice(0, around));
      put('gap', '',
          [`⋯ ${lines.length - around * ((i > 0) + (i + 1 < parts.length))} lines unchanged`]);
      if (i + 1 < parts.length) put('same', '  ', lines.slice(-around));
    } else
      put('same', '  ', lines);
  });
  return box;
};

// Tells whether planner and coder kept to the block that was marked (docs/strategies.md).
page.editText = function(edit) {
  if (!edit) return null;
  const lines = count => `${page.count(count)} line${count === 1 ? '' : 's'}`;
  const coder = edit.inside ? 'inside the marked block' :
                              `${lines(edit.coder_lines)} outside the marked block changed`;
  return coder +
      (edit.planner_lines ? `; the planner itself changed ${lines(edit.planner_lines)}` : '');
};

page.panelParts = {
  advice(trial) {
    const advice = trial.advice;
    if (!advice) return null;
    return page.fold(
        'Advice it was made from', true,
        advice.bottleneck ?
            page.element('p', {}, page.element('b', {}, 'Bottleneck: '), advice.bottleneck) :
            null,
        page.element('p', {class: 'advice'}, advice.change),
        advice.evidence ? page.element('p', {class: 'advice soft'}, 'Because: ' + advice.evidence) :
                          null,
        page.facts([
          ['starts from', advice.base], ['wants to see', (advice.extra_metrics || []).join(', ')],
          ['edit', page.editText(trial.edit)]
        ]),
        advice.anchored ? page.lazy(
                              'The source that the planner marked',
                              () => page.longText(advice.anchored, 'Marked source')) :
                          null);
  },
  problem(trial) {
    const evaluation = trial.evaluation;
    if (!evaluation.reason && !(evaluation.diagnostics || []).length) return null;
    return page.fold(
        evaluation.status === 'passed' ? 'Remark' : 'Why it did not pass', true,
        evaluation.reason ?
            page.element('pre', {class: 'wrap'}, evaluation.reason.slice(0, 20000)) :
            null,
        (evaluation.diagnostics || [])
            .slice(0, 20)
            .map(
                message => page.element(
                    'div', {}, page.element('b', {}, `${message.severity} `),
                    `${message.file}${message.line ? ':' + message.line : ''}: ${message.message}`,
                    message.source_line ?
                        page.element('pre', {}, message.source_line.slice(0, 2000)) :
                        null)));
  },
  diagnosis(trial) {
    const found = (trial.profile && trial.profile.diagnosis) || [];
    if (!found.length) return null;
    return page.fold(
        'Diagnosis of its profile', true,
        found.map(
            one => page.element(
                'div', {},
                page.element(
                    'p', {}, page.element('b', {}, page.words(one.class)),
                    one.score > 0 ?
                        ` explains up to ${(one.score * 100).toFixed(0)} % of the time` :
                        '',
                    one.predicted_speedup > 1 ?
                        `; removing it altogether: ${page.ratio(one.predicted_speedup)}` :
                        '',
                    one.line ? `; line ${one.line}` : ''),
                page.element(
                    'ul', {class: 'plain'},
                    (one.evidence || []).map(line => page.element('li', {}, line))),
                page.element('p', {class: 'soft'}, one.action))),
        trial.profile.judgement ? page.element('p', {}, trial.profile.judgement) : null);
  },
  timing(trial) {
    const e = trial.evaluation, speedup = e.speedup || {}, baseline = e.baseline || {};
    if (!e.timing) return null;
    const row = (name, timing, ratio) =>
        ({name, time: page.timeOf(timing), ratio: page.interval(ratio)});
    const rows = [
      row('this kernel', e.timing), row('PyTorch eager', baseline.eager, speedup.eager),
      row('torch.compile', baseline.compile, speedup.compile),
      row('drop-in ModelNew against Model', null, speedup.dropin),
      row('best before it', null, speedup.best)
    ].filter(r => r.time || r.ratio);
    return page.fold('Timing', true,
      page.table([{title: 'per call, 95 % interval', value: r => r.name}, {title: 'time', number: true, value: r => page.millis(r.time)},
        {title: 'kernel is faster by', number: true, value: r => page.element('span', {class: page.sign(r.ratio) ? page.sign(r.ratio) + '-text' : null}, page.speedup(r.ratio))}], rows, {label: 'Times'}),
      page.facts([['hardware bound', e.lower_bound_ms ? page.millis([e.lower_bound_ms, e.lower_bound_ms, e.lower_bound_ms]).replace(/ \[.*/, '') : null],
        ['packs its parameters first', e.prepacked ? `yes, ${page.digits(e.prepare_ms || 0)} ms, not in the time above` : null], ['measured', e.timing.method],
        ['not checked for want of time', (e.partly_checked || []).join(', ') || null],
        ['NaN', (e.nan || []).join('; ') || null],
        ['error', e.error ? `max abs ${page.digits(e.error.max_abs)}, rel. L2 ${page.digits(e.error.rel_l2)} (PyTorch's own: ${page.digits(e.error.honest_rel_l2)})` : null]]),
      (e.shapes || []).length ? page.table([{title: 'shape', value: s => s.label + (s.held_out ? ' (held out)' : '')}, {title: 'status', value: s => page.pill(s.status)},
        {title: 'time', number: true, value: s => page.millis(page.timeOf(s.timing))}, {title: 'against eager', number: true, value: s => page.speedup(page.interval(s.speedup && s.speedup.eager))}], e.shapes, {label: 'Shapes'}) : null);
  },
  checks(trial) {
    const checks = (trial.evaluation.checks || '').split('\n').filter(Boolean).map(line => {
      const [verdict, name, detail] = line.split('\t');
      return {verdict, name, detail};
    });
    const failed = checks.filter(c => c.verdict === 'fail').length;
    if (!checks.length) return null;
    return page.fold(
        `Checks (${checks.length - failed} of ${checks.length} without complaint)`, failed > 0,
        page.table(
            [
              {title: 'check', value: c => page.words(c.name)}, {
                title: 'verdict',
                value: c => page.element(
                    'span', {
                      class: c.verdict === 'pass' ? 'good-text' :
                          c.verdict === 'fail'    ? 'bad-text' :
                                                    null
                    },
                    c.verdict)
              },
              {title: 'detail', value: c => c.detail.slice(0, 2000)}
            ],
            checks, {label: 'Checks'}));
  },
  source(trial, parent) {
    const [name, text] = page.sourceOf(trial);
    if (!name) return null;
    const [, before] = parent ? page.sourceOf(parent) : [];
    const difference = before === undefined || before === null ?
        null :
        page.lazy(`Difference to attempt ${parent.node}`, () => page.diff(before, text));
    return [
      difference,
      page.lazy(
          `Source: ${name}`,
          () =>
              [page.facts([
                ['candidate', trial.candidate.id], ['compiler', trial.candidate.compiler],
                ['flags', (trial.candidate.flags || []).join(' ')],
                [
                  'tunables',
                  Object.entries(trial.candidate.tunables || {})
                      .map(([k, v]) => `${k} = ${v}`)
                      .join(', ')
                ]
              ]),
               page.longText(text, 'Source')])
    ];
  },
  log: trial =>
      (trial.evaluation.log ?
           page.lazy('Build and run log', () => page.longText(trial.evaluation.log, 'Log')) :
           null),
  hot(trial) {
    const hot = (trial.profile && trial.profile.hot) || [];
    if (!hot.length) return null;
    return page.fold(
        'Hottest lines', false,
        page.table(
            [
              {title: 'line', number: true, value: h => h.line || ''},
              {title: 'time', number: true, value: h => h.percent.toFixed(1) + ' %'}, {
                title: 'source and the compiler’s remark',
                value: h =>
                    [page.element('code', {}, h.text.slice(0, 400)),
                     h.remark ? page.element('div', {class: 'soft'}, h.remark) : null]
              }
            ],
            hot, {label: 'Hottest lines'}));
  },
  metrics(trial, parent, best) {
    if (!trial.profile) return null;
    return page.lazy(
        `Metrics (${trial.profile.metrics.values.length})`,
        () =>
            [page.metricTable(
                 [['this', trial], ...(best && best.node !== trial.node ? [['best', best]] : [])]),
             page.table(
                 [
                   {title: 'source of metrics', value: p => p.name},
                   {title: 'verdict', value: p => p.verdict},
                   {title: 'detail', value: p => p.detail}
                 ],
                 trial.profile.providers || [], {label: 'Sources of metrics'})]);
  },
  evidence(trial) {
    const text = trial.bundle ?
        [
          page.facts([['bundle', trial.bundle]]),
          page.hint('Judge it again: pragma recheck ' + trial.bundle.slice(0, 12))
        ] :
        null;
    return text && page.fold('Evidence', false, text);
  },
  spent(trial) {
    const s = trial.spent || {}, phases = trial.evaluation.phases_ms || {};
    return page.fold('Spent', false, page.facts([
      ['time', page.elapsed(s.seconds || 0)],
      [
        'tokens',
        s.tokens_in || s.tokens_out ?
            `${page.count(s.tokens_in)} in, ${page.count(s.tokens_out)} out` :
            null
      ],
      ['money', s.usd > 0 ? page.money(s.usd) : null],
      [
        'phases',
        Object.entries(phases).map(([name, ms]) => `${name} ${page.elapsed(ms / 1e3)}`).join(', ')
      ]
    ]));
  },
};

// Makes a collapsible section whose content is created when it is first opened.
page.lazy = function(title, make) {
  const fold = page.fold(title, false);
  fold.addEventListener('toggle', () => {
    if (fold.open && fold.children.length === 1) fold.append(...[make()].flat(Infinity));
  });
  return fold;
};

page.metricTable = function(versions) {
  const values = versions.map(([, trial]) => page.metricsOf(trial));
  const tags =
      page.data.metrics.map(([tag]) => tag)
          .filter((tag, i, list) => list.indexOf(tag) === i && values.some(v => v.has(tag)));
  const change = (a, b) =>
      (a && b && a.value && b.value && b.value !== 0 ? a.value / b.value : null);
  const columns = [
    {title: 'metric', value: tag => page.element('span', {title: page.meaning(tag)}, tag)},
    ...versions.map(
        ([name], i) =>
            ({title: name, number: true, value: tag => page.metricText(values[i].get(tag))}))
  ];
  const size = tag =>
      -Math.abs(Math.log(Math.abs(change(values[0].get(tag), values[1].get(tag)) || 1)));
  if (versions.length === 2) {
    tags.sort((a, b) => size(a) - size(b));
    columns.push({
      title: `${versions[0][0]} / ${versions[1][0]}`,
      number: true,
      value: tag => {
        const c = change(values[0].get(tag), values[1].get(tag));
        return c === null ? '' : page.digits(c) + '×';
      }
    });
  }
  columns.push({title: 'source', value: tag => (values.find(v => v.has(tag))).get(tag).source});
  return page.table(columns, tags, {label: 'Metrics', room: 18});
};

page.conversations = async function(node) {
  const calls = (await page.block('calls', 'call-lines'))[node];
  if (!calls) return null;
  const turn = message =>
      page.lazy(`${message.role} (${page.count(message.text.length)} characters)`, () => {
        const box = [page.longText(message.text, message.role)].flat();
        box[0].classList.add('wrap');
        return box;
      });
  return page.fold(
      'Prompts and replies', false,
      calls.map(
          call => call.said ?
              page.fold(`${call.role}, ${call.model}`, true, call.said.map(turn)) :
              page.hint(`${call.role}, ${
                  call.model}: left out of this page; pragma report --full keeps all of them.`)));
};

page.panel = function(run) {
  const box = page.element('div', {class: 'panel', 'aria-live': 'polite'});
  async function show(node) {
    const row = run.byNode.get(node);
    if (!row) {
      box.replaceChildren(
          page.element('div', {class: 'top'}, page.element('strong', {}, 'The PyTorch module')),
          page.longText(page.data.task.source || '', 'Task'));
      return;
    }
    const top = page.element(
        'div', {class: 'top'},
        page.element(
            'strong', {}, row.isBest ? page.element('span', {class: 'star'}, '★ ') : '',
            `Attempt ${node}`),
        page.pill(row.status),
        row.eager ? page.element(
                        'b', {class: page.sign(row.eager) + '-text'},
                        page.speedup(row.eager) + ' against eager') :
                    null);
    const link = row.parent === 0 ?
        'the module' :
        page.element(
            'button', {type: 'button', onclick: () => run.select(row.parent)},
            `attempt ${row.parent}`);
    const [trial, parent, best] = await Promise.all([
      page.trialDetails(run, node), row.parent > 0 ? page.trialDetails(run, row.parent) : null,
      run.best ? page.trialDetails(run, run.best) : null
    ]);
    const known =
        page.element('p', {class: 'soft'}, `${row.role} of `, link, ` by ${trial.author}`);
    const talk = await page.conversations(node);
    if (run.selected !== node) return;  // the reader has chosen another one meanwhile
    box.replaceChildren(
        top, known,
        ...Object.values(page.panelParts)
            .map(part => part(trial, parent, best))
            .flat()
            .filter(Boolean),
        ...(talk ? [talk] : []));
    box.scrollTop = 0;
    box.dataset.shown = node;
  }
  run.onSelect.push(
      node => show(node).catch(
          error => box.replaceChildren(page.element(
              'p', {class: 'error'}, `Attempt ${node} cannot be shown: ${error.message}`))));
  return box;
};
