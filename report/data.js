// What the page was written from. The data that every page needs is parsed when it loads. The rest
// is packed.

export const data = JSON.parse(document.getElementById('data').textContent);

// Packed blocks are base64 of gzip of JSON. Each is unpacked once, when it is first asked for.
// Texts that begin with "@" refer to the list of lines that `lines` names.
const blocks = new Map();

export function block(id, lines) {
  if (!blocks.has(id)) blocks.set(id, unpack(id, lines));
  return blocks.get(id);
}

async function unpack(id, lines) {
  const pool = lines ? await block(lines) : null;
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
      (_, value) => typeof value === 'string' && value[0] === '@' ? pooled(pool, value) : value);
}

// Resolves a text that refers to a pool of lines: "@first,count,first,count,...".
function pooled(lines, reference) {
  const runs = reference.slice(1).split(',').map(Number);
  const parts = [];
  for (let i = 0; i < runs.length; i += 2)
    for (let at = 0; at < runs[i + 1]; at += 1) parts.push(lines[runs[i] + at]);
  return parts.join('\n');
}

export async function trialDetails(node) {
  const chunk = await block('trials-' + Math.floor((node - 1) / data.chunk), 'trial-lines');
  return chunk[(node - 1) % data.chunk];
}
