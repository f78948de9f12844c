/**
 * Search over what one may do and everything one may see: pages, acts, and whatever has a name. Ctrl+K and `/` lead to it, the
 * arrows through it; empty, it offers where one was last.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SignedIn } from '../api.generated.ts';
import { lastPlaces } from '../places.ts';
import { hrefOf, navigate, usePath } from '../router.ts';
import { useLoad } from '../use-load.ts';
import { type Command, useCommands } from './commands.ts';
import { fits, isAbout } from './fits.ts';
import { Icon } from './icon.tsx';
import { findPage } from './page-view.tsx';
import { type Hit, hitsOf } from './search-hits.ts';
import { moveInside } from './use-menu.ts';

/** Rests this long after the last key before it asks. */
const REST_MS = 200;
/** Of commands that fit: whoever looks for another types on. */
const SHOWN = 8;

const hitOf = (command: Command): Hit => ({ group: 'Go to', ...command });

/** By the letters that words of a title begin with; then those that are called so elsewhere. */
function commandsFor(typed: string, commands: readonly Command[]): Hit[] {
  const by_title = commands.filter(({ title }) => fits(typed, title));
  const by_words = commands.filter(
    (command) => !by_title.includes(command) && isAbout(typed, `${command.title} ${command.words ?? ''}`),
  );
  return [...by_title, ...by_words].slice(0, SHOWN).map(hitOf);
}

/** The last places of a person, without the present one. */
function placesBut(person: SignedIn, now: string): Hit[] {
  return lastPlaces(person.id).flatMap(({ path, title }) => {
    const page = findPage(path);
    if (!page || path === now) return [];
    const of = page.entry.title === title ? [] : [page.entry.title];
    const { project } = page.params;
    const note = [...of, ...(project === undefined || project === title ? [] : [project])].join(' · ');
    return [{ group: 'Where you were', path, title, note }];
  });
}

export function Search({ person, project }: { person: SignedIn; project: string | null }) {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const [is_begun, setBegun] = useState(false);
  const path = usePath();
  const place = useRef<HTMLDivElement>(null);
  const commands = useCommands(person, project, typed.trim() !== '');
  const load = useLoad('GET /search', asked === '' ? null : { query: { q: asked } });
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const end = (): void => {
    setTyped('');
    setBegun(false);
  };
  // Whatever was chosen, the search has done its part.
  useEffect(end, [path]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const is_typing =
        event.target instanceof Element && event.target.matches('input, textarea, select, .editor');
      const has_control = event.ctrlKey || event.metaKey;
      const is_for_us = event.key === 'k' ? has_control : event.key === '/' && !is_typing && !has_control;
      // A question that is asked comes first.
      if (!is_for_us || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      setBegun(true);
      place.current?.querySelector('input')?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const is_empty = typed.trim() === '';
  const fitting = commandsFor(typed, commands);
  const known = new Set(fitting.map((hit) => hit.path + hit.title));
  const found = load.data && asked !== '' ? hitsOf(load.data) : [];
  const hits = is_empty
    ? placesBut(person, path)
    : [...fitting, ...found.filter((hit) => !known.has(hit.path + hit.title))];
  const is_open = is_empty
    ? is_begun && hits.length > 0
    : fitting.length > 0 || (asked !== '' && load.data !== null);
  const closeOrMove = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    moveInside(event);
    const [first] = hits;
    if (event.key === 'Enter' && is_open && first && event.target instanceof HTMLInputElement) choose(first);
    if (event.key !== 'Escape') return;
    end();
    event.currentTarget.querySelector('input')?.focus();
  };
  const leave = (event: FocusEvent): void => {
    if (!(event.relatedTarget instanceof Node && place.current?.contains(event.relatedTarget)))
      setBegun(false);
  };
  return (
    <search class="search" ref={place} onKeyDown={closeOrMove} onFocusOut={leave}>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label="Search everything, and what to do"
        placeholder="Search or do  Ctrl K"
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onClick={() => setBegun(true)}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {is_open && <Results hits={hits} asked={typed.trim()} />}
    </search>
  );
}

function choose({ path, act }: Hit): void {
  if (act) act();
  else navigate(path);
}

function Results({ hits, asked }: { hits: readonly Hit[]; asked: string }) {
  const told =
    hits.length === 0
      ? `Nothing found for “${asked}”. Files and addresses are found by how they begin.`
      : asked === ''
        ? ''
        : `${hits.length} found`;
  return (
    <div class="menu-panel search-panel">
      <p role="status">{told}</p>
      <ul>
        {hits.map((hit, index) => (
          <li key={hit.path + hit.title + hit.note}>
            {hits[index - 1]?.group !== hit.group && <p>{hit.group}</p>}
            <Found of={hit} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Found({ of }: { of: Hit }) {
  const told = (
    <>
      <span class="hit-title">{of.title}</span>
      <span class="hit-note muted">{of.note}</span>
    </>
  );
  return of.act ? (
    <button type="button" onClick={of.act}>
      {told}
    </button>
  ) : (
    <a href={hrefOf(of.path)}>{told}</a>
  );
}
