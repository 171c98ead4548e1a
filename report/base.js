// Functions that every part of the page uses: making elements, reading data, the theme. Data is
// untrusted text. It becomes text nodes, and attribute values that cannot run as code, but never
// markup.
'use strict';

const page = {};

// Makes an element: element('p', {class: 'x', onclick: f}, 'text', child, ...). Lists are
// flattened, and null is left out.
page.element = function(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else
      made.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === '') continue;
    made.append(child);
  }
  return made;
};

page.section = function(id, title, ...content) {
  return page.element(
      'section', {id, 'aria-labelledby': id + '-title', 'data-title': title},
      page.element('h2', {id: id + '-title'}, title), ...content);
};

page.hint = (...text) => page.element('p', {class: 'hint'}, ...text);

page.data = JSON.parse(document.getElementById('data').textContent);

// Packed blocks are base64 of gzip of JSON. Each is unpacked once, when it is first asked for.
// Texts that begin with "@" refer to the list of lines that `lines` names.
page.blocks = new Map();
page.block = function(id, lines) {
  if (!page.blocks.has(id)) page.blocks.set(id, page.unpack(id, lines));
  return page.blocks.get(id);
};

page.unpack = async function(id, lines) {
  const pool = lines ? await page.block(lines) : null;
  const holder = document.getElementById(id);
  if (holder === null) throw new Error('this report lacks a part of its data');
  if (typeof DecompressionStream === 'undefined')
    throw new Error(
        'this browser is too old to unpack the details (it has no DecompressionStream)');
  const bytes = Uint8Array.from(atob(holder.textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const text = await new Response(stream).text();
  if (!pool) return JSON.parse(text);
  return JSON.parse(
      text,
      (key, value) =>
          typeof value === 'string' && value[0] === '@' ? page.pooled(pool, value) : value);
};

// Resolves a text that refers to a pool of lines: "@first,count,first,count,...".
page.pooled = function(lines, reference) {
  const runs = reference.slice(1).split(',').map(Number);
  const parts = [];
  for (let i = 0; i < runs.length; i += 2)
    for (let at = 0; at < runs[i + 1]; at += 1) parts.push(lines[runs[i] + at]);
  return parts.join('\n');
};

// Shows a long text that opens on demand, so that a line of a megabyte costs nothing until then.
page.longText = function(text, label) {
  const limit = 60000;
  const box = page.element('pre', {tabindex: 0, 'aria-label': label || null}, text.slice(0, limit));
  if (text.length <= limit) return box;
  const more = page.element(
      'button', {
        type: 'button',
        onclick: () => {
          box.textContent = text;
          more.remove();
        }
      },
      `show all ${page.count(text.length)} characters`);
  return [box, more];
};

page.fold = function(title, open, ...content) {
  return page.element('details', {open}, page.element('summary', {}, title), ...content);
};

// Makes a table. `columns` is a list of {title, value(row) -> text or node, number, order(row)}. A
// column with `order` is sorted by a click on its title.
page.table = function(columns, rows, options = {}) {
  const body = page.element('tbody');
  let shown = rows.slice();
  let room = options.room || Infinity;
  const more = page.element('button', {
    type: 'button',
    class: 'more',
    onclick: () => {
      room = Infinity;
      fill();
    }
  });
  function fill() {
    body.replaceChildren(...shown.slice(0, room).map(row => {
      const line = page.element(
          'tr', options.attributes ? options.attributes(row) : {},
          columns.map(c => page.element('td', {class: c.number ? 'number' : null}, c.value(row))));
      return line;
    }));
    more.hidden = shown.length <= room;
    more.textContent = `show all ${shown.length} rows`;
  }
  function sortBy(column, heading) {
    const falling = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of heading.parentElement.children) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    const key = row => column.order(row);
    shown.sort((a, b) => (falling ? d3.descending : d3.ascending)(key(a), key(b)));
    fill();
  }
  const heads = columns.map(column => {
    const heading = page.element('th', {scope: 'col', class: column.number ? 'number' : null});
    heading.append(
        column.order ?
            page.element(
                'button', {type: 'button', onclick: () => sortBy(column, heading)}, column.title) :
            column.title);
    return heading;
  });
  fill();
  const table =
      page.element('table', {}, page.element('thead', {}, page.element('tr', {}, heads)), body);
  const box = page.element(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.label || 'table'},
      table);
  const whole = page.element('div', {class: 'table'}, box, more);
  whole.body = body;
  whole.use = next => {
    shown = next.slice();
    fill();
  };
  return whole;
};

// Makes buttons of which exactly one is chosen.
page.choice = function(label, names, chosen, onChoose) {
  const box = page.element('div', {class: 'choice', role: 'group', 'aria-label': label});
  for (const [value, name] of names) {
    box.append(page.element(
        'button', {
          type: 'button',
          'aria-pressed': String(value === chosen),
          onclick: event => {
            for (const button of box.children)
              button.setAttribute('aria-pressed', String(button === event.currentTarget));
            onChoose(value);
          }
        },
        name));
  }
  return box;
};

page.tip = {
  box: document.getElementById('tip'),
  show(event, lines) {
    this.box.replaceChildren(
        ...lines.filter(Boolean).map((line, i) => page.element(i === 0 ? 'b' : 'div', {}, line)));
    this.box.hidden = false;
    const size = this.box.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, window.innerWidth - size.width - 8);
    const below = event.clientY + 18 + size.height < window.innerHeight;
    const y = below ? event.clientY + 18 : event.clientY - size.height - 12;
    this.box.style.setProperty('left', Math.max(8, x) + 'px');
    this.box.style.setProperty('top', Math.max(8, y) + 'px');
  },
  hide() {
    this.box.hidden = true;
  },
};

// The theme follows the system until the reader chooses one. Only this page remembers the choice.
page.theme = {
  button: document.getElementById('theme'),
  dark() {
    const set = document.documentElement.dataset.theme;
    return set ? set === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  },
  label() {
    this.button.textContent = this.dark() ? '☀ light' : '☾ dark';
  },
  start() {
    this.label();
    this.button.addEventListener('click', () => {
      document.documentElement.dataset.theme = this.dark() ? 'light' : 'dark';
      this.label();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.label());
  },
};
