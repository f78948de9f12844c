/** Finds of a search, each with its place. */
import type { SearchResult } from '../api.generated.ts';
import { to } from '../router.ts';
import { findPage } from './page-view.tsx';

export interface Hit {
  group: string;
  /** A path below /console. */
  path: string;
  title: string;
  note: string;
  /** Runs in place of leading somewhere. */
  act?: () => void;
}

export function hitsOf(found: SearchResult): Hit[] {
  const hits = [...hitsOfProjects(found), ...hitsOfSatchel(found)];
  // The nearest page of a thing that has none is its project's.
  return hits.map((hit) =>
    findPage(hit.path) ? hit : { ...hit, path: hit.path.split('/').slice(0, 3).join('/') },
  );
}

function hitsOfProjects(found: SearchResult): Hit[] {
  return [
    ...found.projects.map(({ name, slug }) => ({
      group: 'Projects',
      path: to`/projects/${slug}`,
      title: name,
      note: slug,
    })),
    ...found.lists.map(({ id, name, archived, project }) => ({
      group: 'Lists',
      path: to`/projects/${project.slug}/lists/${id}`,
      title: name,
      note: tell(archived && 'archived', project.name),
    })),
    ...found.segments.map(({ id, name, list, project }) => ({
      group: 'Segments',
      path: to`/projects/${project.slug}/segments/${id}`,
      title: name,
      note: tell(`of ${list.name}`, project.name),
    })),
    ...found.broadcasts.map(({ id, name, subject, status, project }) => ({
      group: 'Broadcasts',
      path: to`/projects/${project.slug}/broadcasts/${id}`,
      title: name,
      note: tell(subject, status, project.name),
    })),
    ...found.sequences.map(({ id, name, status, project }) => ({
      group: 'Sequences',
      path: to`/projects/${project.slug}/sequences/${id}`,
      title: name,
      note: tell(status, project.name),
    })),
    ...found.templates.map(({ slug, name, subject, project }) => ({
      group: 'Templates',
      path: to`/projects/${project.slug}/templates/${slug}`,
      title: name,
      note: tell(subject, project.name),
    })),
    ...found.schedules.map(({ id, name, is_active, project }) => ({
      group: 'Schedules',
      path: to`/projects/${project.slug}/schedules/${id}`,
      title: name,
      note: tell(!is_active && 'off', project.name),
    })),
    ...found.webhooks.map(({ id, url, description, project }) => ({
      group: 'Webhooks',
      path: to`/projects/${project.slug}/webhooks/${id}`,
      // Its whole URL may hold a token.
      title: new URL(url).host,
      note: tell(description, project.name),
    })),
    ...found.api_keys.map(({ id, name, key_prefix, project }) => ({
      group: 'Keys',
      path: to`/projects/${project.slug}/keys/${id}`,
      title: name,
      note: tell(`${key_prefix}…`, project.name),
    })),
    ...found.contacts.map(({ id, email, list, project }) => ({
      group: 'Contacts',
      path: to`/projects/${project.slug}/contacts/${id}`,
      title: email,
      note: tell(list.name, project.name),
    })),
    ...found.emails.map((mail) => ({
      group: 'Mails',
      path: to`/projects/${mail.project.slug}/emails/${mail.id}`,
      title: mail.subject,
      note: tell(mail.to, mail.status, mail.project.name),
    })),
    ...found.objects.map(({ public_id, original_filename, project }) => ({
      group: 'Files',
      path: to`/projects/${project.slug}/files/${public_id}`,
      title: original_filename,
      note: project.name,
    })),
  ];
}

/** Of no project, for whoever may administer. */
function hitsOfSatchel({ sending_domains, mailboxes, people, tokens }: SearchResult): Hit[] {
  return [
    ...(sending_domains ?? []).map(({ name }) => ({
      group: 'Sending domains',
      path: to`/sending-domains/${name}`,
      title: name,
      note: '',
    })),
    ...(mailboxes ?? []).map(({ address }) => ({
      group: 'Mailboxes',
      path: to`/mailboxes/${address}`,
      title: address,
      note: '',
    })),
    ...(people ?? []).map(({ id, email, name }) => ({
      group: 'People',
      path: to`/people/${id}`,
      title: name ?? email,
      note: name === null ? '' : email,
    })),
    ...(tokens ?? []).map(({ name }) => ({ group: 'Tokens', path: '/tokens', title: name, note: '' })),
  ];
}

const tell = (...parts: (string | false | null)[]): string => parts.filter(Boolean).join(' · ');
