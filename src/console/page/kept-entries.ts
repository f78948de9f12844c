/** Keeps the entries of a form that somebody left, in this tab alone, until they are sent; but no passwords and files. */
import { useEffect } from 'preact/hooks';

type Ref = { readonly current: HTMLFormElement | null };

/** Fields that come with others are there some turns later. */
const TURNS = 40;

const keyOf = (name: string): string => `entered ${name}`;

/** Keeps what is entered under a name, and puts back what was kept; null keeps nothing. */
export function useKeptEntries(form: Ref, name: string | null): void {
  useEffect(() => {
    const shown = form.current;
    if (name === null || shown === null) return;
    const kept = read(name);
    let turns = TURNS;
    let timer = 0;
    const putBack = (): void => {
      for (const field of fieldsOf(shown)) {
        const entry = kept.get(field.name);
        if (entry === undefined) continue;
        kept.delete(field.name);
        fill(field, entry);
      }
      turns -= 1;
      if (kept.size > 0 && turns > 0) timer = window.setTimeout(putBack, 50);
    };
    if (kept.size > 0) putBack();
    const keep = (): void => write(name, shown);
    shown.addEventListener('input', keep);
    return () => {
      clearTimeout(timer);
      shown.removeEventListener('input', keep);
    };
  }, [name]);
}

export function forgetEntries(name: string | null): void {
  if (name !== null) sessionStorage.removeItem(keyOf(name));
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.elements].filter(
    (each): each is Field =>
      (each instanceof HTMLInputElement && !['password', 'file', 'checkbox', 'radio'].includes(each.type)) ||
      each instanceof HTMLTextAreaElement ||
      each instanceof HTMLSelectElement,
  );
}

function write(name: string, form: HTMLFormElement): void {
  const entries = fieldsOf(form).flatMap((field) =>
    field.name === '' || field.value === '' ? [] : [[field.name, field.value] as const],
  );
  sessionStorage.setItem(keyOf(name), JSON.stringify(Object.fromEntries(entries)));
}

function read(name: string): Map<string, string> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(name)) ?? '{}');
    return new Map(typeof kept === 'object' && kept !== null ? Object.entries(kept) : []);
  } catch {
    return new Map();
  }
}

/** As if it had been typed. */
function fill(field: Field, value: string): void {
  if (field.value === value) return;
  field.value = value;
  for (const event of ['input', 'change']) field.dispatchEvent(new Event(event, { bubbles: true }));
}
