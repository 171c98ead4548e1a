// The page of a run.
'use strict';

page.runModel = function() {
  const data = page.data;
  const run =
      {trials: data.trials, best: data.best, selected: null, onSelect: [], final: data.run.final};
  run.byNode = new Map(run.trials.map(trial => [trial.node, trial]));
  for (const trial of run.trials) trial.isBest = trial.node === data.best;
  run.bestPath = [];
  for (let node = run.best; node; node = run.byNode.get(node).parent) run.bestPath.push(node);
  run.select = node => {
    run.selected = node;
    return Promise.all(run.onSelect.map(each => each(node)));
  };
  return run;
};

page.stat = (value, name, className = '') => page.element(
    'div', {class: 'stat ' + className}, page.element('b', {}, value),
    page.element('span', {}, name));

page.runVerdict = function(run) {
  const totals = run.trials.reduce(
      (sum, t) =>
          ({tokens: sum.tokens + t.tokens, usd: sum.usd + t.usd, seconds: sum.seconds + t.seconds}),
      {tokens: 0, usd: 0, seconds: 0});
  const best = run.byNode.get(run.best);
  const final = run.final && run.final.status === 'passed' ? run.final : null;
  const eager = final ? page.interval(final.speedup.eager) : best && best.eager;
  const compile = final ? page.interval(final.speedup.compile) : best && best.compile;
  const dropin = final ? page.interval(final.speedup.dropin) : null;
  const when = final ? 'measured again in fresh processes' : 'as measured in the search';
  const passed = run.trials.filter(t => t.status === 'passed').length;
  return page.element(
      'div', {class: 'verdict'},
      page.stat(
          eager ? page.speedup(eager) : 'no kernel passed',
          eager ? `faster than PyTorch eager, attempt ${run.best}, ${when}` :
                  `in ${run.trials.length} attempts`,
          'main ' + (page.sign(eager) || (run.trials.length && !best ? 'bad' : ''))),
      compile ? page.stat(page.speedup(compile), 'against torch.compile') : null,
      dropin ? page.stat(page.speedup(dropin), 'drop-in ModelNew against Model') : null,
      page.stat(`${passed} of ${run.trials.length}`, 'attempts passed'),
      page.stat(
          page.elapsed(totals.seconds),
          'spent' + (totals.usd > 0 ? ', ' + page.money(totals.usd) : '') +
              (totals.tokens > 0 ? `, ${page.count(totals.tokens)} tokens` : '')));
};

page.runHead = function(run) {
  const facts = page.data.run, settings = facts.settings, task = page.data.task;
  const models = Object.entries(settings.models || {})
                     .filter(([, name]) => name)
                     .map(([role, name]) => `${role}: ${name}`)
                     .join(', ');
  const state = facts.state === 'finished' ? `ended by ${facts.stopped}` : facts.state;
  return page.element(
      'div', {class: 'head'}, page.element('h1', {}, facts.task),
      page.element(
          'p', {class: 'soft'},
          [
            task.category && page.words(task.category), `strategy ${facts.strategy}`, models,
            facts.created, state, facts.id
          ].filter(Boolean)
              .join(' · ')),
      page.data.shortened ?
          page.element(
              'p', {class: 'soft'},
              'A long run: attempts that did not lead to the best keep only a part of their advice and logs here (pragma report --full keeps all).') :
          null,
      page.data.environment ?
          page.element('p', {class: 'soft'}, environmentLine(page.data.environment)) :
          null,
      task.lint && task.lint !== 'sound' ?
          page.element(
              'p', {class: 'bad-text'},
              `This task is ${
                  task.lint}: its inputs cannot tell some wrong kernels from right ones (pragma lint says which).`) :
          null,
      run.trials.some(t => t.prepacked) ?
          page.element(
              'p', {class: 'soft'},
              'Some attempts pack their parameters before they are timed; the packing is not in their times.') :
          null);
  function environmentLine(e) {
    return [
      e.cpu, e.threads && `${e.threads} thread${e.threads === 1 ? '' : 's'}`, e.compiler,
      e.torch && 'torch ' + e.torch, e.cache && e.cache + ' cache',
      e.allocator && 'allocator ' + e.allocator, e.trust && 'trust: ' + e.trust
    ].filter(Boolean)
        .join(' · ');
  }
};

page.attemptTable = function(run) {
  const median = t => (t.eager ? t.eager[0] : -1);
  const columns = [
    {
      title: 'attempt',
      number: true,
      order: t => t.node,
      value: t =>
          (t.isBest ? [page.element('span', {class: 'star'}, '★ '), t.node] : String(t.node))
    },
    {
      title: 'from',
      number: true,
      order: t => t.parent,
      value: t => (t.parent === 0 ? '–' : String(t.parent))
    },
    {title: 'role', order: t => t.role, value: t => t.role},
    {title: 'status', order: t => t.status, value: t => page.pill(t.status)}, {
      title: 'against eager [95 %]',
      number: true,
      order: median,
      value: t => page.element(
          'span', {class: page.sign(t.eager) ? page.sign(t.eager) + '-text' : null},
          page.speedup(t.eager))
    },
    {
      title: 'time',
      number: true,
      order: t => (t.ms ? t.ms[0] : Infinity),
      value: t => page.millis(t.ms)
    },
    {
      title: 'bottleneck',
      order: t => t.bottleneck || '',
      value: t => page.words(t.bottleneck || '')
    },
    {
      title: 'tokens',
      number: true,
      order: t => t.tokens,
      value: t => (t.tokens ? page.count(t.tokens) : '–')
    },
    {title: 'what', value: t => page.element('span', {class: 'cut', title: t.note}, t.note)}
  ];
  const table = page.table(columns, run.trials, {
    room: 60,
    label: 'Attempts',
    attributes: t => ({class: 'click' + (t.isBest ? ' best' : ''), 'data-node': t.node})
  });
  table.body.addEventListener('click', event => {
    const line = event.target.closest('tr');
    if (!line) return;
    run.select(Number(line.dataset.node));
    document.getElementById('search').scrollIntoView({block: 'start'});
  });
  run.onSelect.push(node => {
    for (const line of table.body.querySelectorAll('[aria-selected]'))
      line.removeAttribute('aria-selected');
    table.body.querySelector(`[data-node="${Number(node)}"]`)
        ?.setAttribute('aria-selected', 'true');
  });
  return table;
};

page.costTable = function(run) {
  const costs = page.data.cost;
  if (!costs.length) return page.hint('No model was asked.');
  return page.table(
      [
        {title: 'role', value: g => g.role}, {title: 'model', value: g => g.model},
        {title: 'calls', number: true, value: g => String(g.calls)},
        {title: 'tokens in', number: true, value: g => page.count(g.tokens_in)},
        {title: 'tokens out', number: true, value: g => page.count(g.tokens_out)},
        {title: 'money', number: true, value: g => page.money(g.usd)},
        {title: 'waited', number: true, value: g => page.elapsed(g.seconds)}
      ],
      costs, {label: 'Cost'});
};

page.settingsFacts = function() {
  const settings = page.data.run.settings, task = page.data.task, preset = settings.preset || {},
        budget = settings.budget || {};
  const size = t => `${t.name}: ${t.dtype}[${(t.shape || []).join(', ')}]`;
  return page.facts([
    ['strategy', [preset.name, preset.summary].filter(Boolean).join(': ')],
    [
      'budget',
      [
        budget.attempts > 0 && `${budget.attempts} attempts`,
        budget.seconds > 0 && page.elapsed(budget.seconds),
        budget.tokens > 0 && `${page.count(budget.tokens)} tokens`,
        budget.usd > 0 && page.money(budget.usd)
      ].filter(Boolean)
          .join(', ')
    ],
    ['options', Object.entries(settings.options || {}).map(([k, v]) => `${k} ${v}`).join(', ')],
    ['seed', settings.seed], ['advice from the user', settings.advice_from_user],
    ['inputs', (task.arguments || []).map(size).join('; ')],
    ['outputs', (task.outputs || []).map(size).join('; ')], ['notes', (task.notes || []).join(' ')],
    ['task', task.sha256 && 'SHA-256 ' + task.sha256],
    ['evidence of the best', page.data.run.bundle],
    ['machine', page.element('span', {class: 'advice'}, settings.machine || '')]
  ]);
};

page.runPage = function() {
  const run = page.runModel();
  const panel = page.panel(run);
  const content = [
    page.runHead(run), page.runVerdict(run),
    page.element(
        'div', {class: 'pair wide-left'},
        page.element(
            'div', {class: 'stack'}, page.section('search', 'Search tree', page.searchTree(run)),
            page.section('progress', 'Best so far', page.progressCurve(run))),
        page.section('attempt', 'Attempt', panel)),
    page.element(
        'div', {class: 'pair'},
        page.element(
            'div', {class: 'stack'}, page.section('roofline', 'Roofline', page.roofline(run)),
            page.section('cost', 'Cost', page.costTable(run))),
        page.section('profile', 'Profiles compared', page.profileComparison(run))),
    page.section('attempts', 'All attempts', page.attemptTable(run)),
    page.section(
        'settings', 'Settings and task', page.settingsFacts(),
        page.lazy('Task source', () => page.longText(page.data.task.source || '', 'Task')))
  ];
  page.started = [
    () => run.select(run.best || (run.trials.length ? run.trials[run.trials.length - 1].node : 0))
  ];
  return content;
};
