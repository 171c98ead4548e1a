// Makes elements. Data is untrusted text. It becomes text nodes, and attribute values that cannot
// run as code, but never markup.

import {formatCount} from './figures.js';

// Makes an element: element('p', {class: 'x', onclick: f}, 'text', child, ...). Lists are
// flattened, and null is left out.
export function element(tag, attributes, ...children) {
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
}

export function section(id, title, ...content) {
  return element(
      'section', {id, 'aria-labelledby': id + '-title', 'data-title': title},
      element('h2', {id: id + '-title'}, title), ...content);
}

export const hint = (...text) => element('p', {class: 'hint'}, ...text);

// Shows a long text that opens on demand, so that a line of a megabyte costs nothing until then.
export function longText(text, label) {
  const limit = 60000;
  const box = element('pre', {tabindex: 0, 'aria-label': label || null}, text.slice(0, limit));
  if (text.length <= limit) return box;
  const more = element(
      'button', {
        type: 'button',
        onclick: () => {
          box.textContent = text;
          more.remove();
        }
      },
      `show all ${formatCount(text.length)} characters`);
  return [box, more];
}

export function fold(title, open, ...content) {
  return element('details', {open}, element('summary', {}, title), ...content);
}

// Makes buttons of which exactly one is chosen.
export function choice(label, names, chosen, onChoose) {
  const box = element('div', {class: 'choice', role: 'group', 'aria-label': label});
  for (const [value, name] of names) {
    box.append(element(
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
}

export const factList = pairs => element(
    'dl', {class: 'facts'},
    pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));

// Makes a collapsible section whose content is created when it is first opened.
export function lazy(title, make) {
  const folded = fold(title, false);
  folded.addEventListener('toggle', () => {
    if (folded.open && folded.children.length === 1) folded.append(...[make()].flat(Infinity));
  });
  return folded;
}

export const stat = (value, name, className = '') => element(
    'div', {class: 'stat ' + className}, element('b', {}, value), element('span', {}, name));
