/**
 * Search over what one may do and everything one may see: pages, acts, projects, keys, files, mails and contacts. Ctrl+K and `/`
 * lead to it, the arrows through it.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchResult, SignedIn } from '../api.generated.ts';
import { hrefOf, navigate, to, usePath } from '../router.ts';
import { useLoad } from '../use-load.ts';
import { type Command, useCommands } from './commands.ts';
import { fits } from './fits.ts';
import { Icon } from './icon.tsx';
import { moveInside } from './move-inside.ts';
import { findPage } from './page-view.tsx';

/** Rests this long after the last key before it asks. */
const REST_MS = 200;
/** Of commands that fit: whoever looks for another types on. */
const SHOWN = 8;

interface Hit {
  group: string;
  href: string;
  title: string;
  note: string;
}

const hitOf = ({ title, note, path }: Command): Hit => ({ group: 'Go to', href: path, title, note });

function hitsOf(found: SearchResult): Hit[] {
  const hits: Hit[] = [
    ...found.projects.map(({ name, slug }) => ({
      group: 'Projects',
      href: to`/projects/${slug}`,
      title: name,
      note: slug,
    })),
    ...found.api_keys.map(({ id, name, key_prefix, project }) => ({
      group: 'Keys',
      href: to`/projects/${project.slug}/keys/${id}`,
      title: name,
      note: `${key_prefix}… · ${project.name}`,
    })),
    ...found.objects.map(({ public_id, original_filename, project }) => ({
      group: 'Files',
      href: to`/projects/${project.slug}/files/${public_id}`,
      title: original_filename,
      note: project.name,
    })),
    ...found.emails.map((mail) => ({
      group: 'Mails',
      href: to`/projects/${mail.project.slug}/emails/${mail.id}`,
      title: mail.subject,
      note: `${mail.to} · ${mail.status} · ${mail.project.name}`,
    })),
    ...found.contacts.map(({ id, email, list, project }) => ({
      group: 'Contacts',
      href: to`/projects/${project.slug}/contacts/${id}`,
      title: email,
      note: `${list.name} · ${project.name}`,
    })),
  ];
  // Where a thing has no page of its own, its project is the nearest.
  return hits.map((hit) => {
    const is_there = findPage(hit.href) !== null;
    return is_there ? hit : { ...hit, href: hit.href.split('/').slice(0, 3).join('/') };
  });
}

export function Search({ person, project }: { person: SignedIn; project: string | null }) {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const path = usePath();
  const place = useRef<HTMLDivElement>(null);
  const commands = useCommands(person, project, typed.trim() !== '');
  const load = useLoad('GET /search', asked === '' ? null : { query: { q: asked } });
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // Whatever was chosen, the search has done its part.
  useEffect(() => setTyped(''), [path]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const is_typing =
        event.target instanceof Element && event.target.matches('input, textarea, select, .editor');
      const has_control = event.ctrlKey || event.metaKey;
      const is_for_us = event.key === 'k' ? has_control : event.key === '/' && !is_typing && !has_control;
      // A question that is asked comes first.
      if (!is_for_us || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      place.current?.querySelector('input')?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const fitting = commands.filter(({ title }) => fits(typed, title)).slice(0, SHOWN);
  const hits = [...fitting.map(hitOf), ...(load.data && asked !== '' ? hitsOf(load.data) : [])];
  const is_open = typed.trim() !== '' && (fitting.length > 0 || (asked !== '' && load.data !== null));
  const closeOrMove = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    moveInside(event);
    const [first] = hits;
    if (event.key === 'Enter' && is_open && first && event.target instanceof HTMLInputElement)
      navigate(first.href);
    if (event.key !== 'Escape') return;
    setTyped('');
    event.currentTarget.querySelector('input')?.focus();
  };
  return (
    <search class="search" ref={place} onKeyDown={closeOrMove}>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label="Search projects, keys, files, mails and contacts, and what to do"
        placeholder="Search or do  Ctrl K"
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {is_open && <Results hits={hits} asked={typed.trim()} />}
    </search>
  );
}

function Results({ hits, asked }: { hits: readonly Hit[]; asked: string }) {
  return (
    <div class="menu-panel search-panel">
      <p role="status">
        {hits.length === 0
          ? `Nothing found for “${asked}”. Files and addresses are found by how they begin.`
          : `${hits.length} found`}
      </p>
      <ul>
        {hits.map(({ group, href, title, note }, index) => (
          <li key={href + title + note}>
            {hits[index - 1]?.group !== group && <p>{group}</p>}
            <a href={hrefOf(href)}>
              <span class="hit-title">{title}</span>
              <span class="hit-note muted">{note}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
