/** Acts and pages that whoever is signed in may use. */
import type { SignedIn } from '../api.generated.ts';
import { mayOpen, mayWrite } from '../capabilities.ts';
import { PAGES, type PageEntry } from '../pages.ts';
import { to } from '../router.ts';
import { signOut } from '../session.ts';
import { useLoad } from '../use-load.ts';
import { toast } from './toast.tsx';

export interface Command {
  title: string;
  /** Its kind, or its place. */
  note: string;
  /** A path below /console. */
  path: string;
  /** Its names in other products. */
  words?: string;
  /** Runs in place of leading somewhere. */
  act?: () => void;
}

export function leave(): void {
  signOut().catch((error: Error) => toast(error.message, 'bad'));
}

/** Of each kind of thing: who has more finds the rest in its list. */
const THINGS = 50;

/** Every page that needs no more than a project to be known, and what stands in that project. */
export function useCommands(person: SignedIn, project: string | null, is_wanted: boolean): Command[] {
  const of_project =
    is_wanted && project !== null ? { path: { project }, query: { per_page: THINGS } } : null;
  const keys = useLoad('GET /projects/{project}/api-keys', of_project).data?.data ?? [];
  const lists = useLoad('GET /projects/{project}/email-lists', of_project).data?.data ?? [];
  const sequences = useLoad('GET /projects/{project}/email-sequences', of_project).data?.data ?? [];
  const broadcasts = useLoad('GET /projects/{project}/email-broadcasts', of_project).data?.data ?? [];
  const templates = useLoad(
    'GET /projects/{project}/email-templates',
    of_project && { path: of_project.path, query: {} },
  ).data?.data;
  const mailboxes = useLoad(
    'GET /mailboxes',
    is_wanted && person.can_administer ? { query: { per_page: THINGS } } : null,
  ).data?.data;
  const known = { project: project ?? '' };
  const may = mayWrite();
  return [
    ...PAGES.flatMap((entry) => placeOf(entry, known)),
    ...sequences.flatMap(({ id, name, status }) => {
      const path = to`/projects/${known.project}/sequences/${id}`;
      const acts = !may ? [] : status === 'active' ? ['Pause'] : status === 'paused' ? ['Resume'] : [];
      return ['', ...acts].map((act) => ({ title: `${act} ${name}`.trim(), note: 'Sequence', path }));
    }),
    ...broadcasts.flatMap(({ id, name, status }) => {
      const path = to`/projects/${known.project}/broadcasts/${id}`;
      const acts = !may ? [] : status === 'sending' ? ['Pause'] : status === 'paused' ? ['Resume'] : [];
      return ['', ...acts].map((act) => ({ title: `${act} ${name}`.trim(), note: 'Broadcast', path }));
    }),
    ...lists.flatMap(({ id, name }) => [
      { title: name, note: 'List', path: to`/projects/${known.project}/lists/${id}` },
      ...(may
        ? [
            {
              title: `Import contacts to ${name}`,
              note: 'List',
              path: to`/projects/${known.project}/lists/${id}/import`,
            },
          ]
        : []),
    ]),
    ...(may ? keys : []).map(({ id, name }) => ({
      title: `Rotate ${name}`,
      note: 'Key',
      path: to`/projects/${known.project}/keys/${id}`,
    })),
    ...(templates ?? []).map(({ slug, name }) => ({
      title: name,
      note: 'Template',
      path: to`/projects/${known.project}/templates/${slug}`,
    })),
    ...(mailboxes ?? []).map(({ address }) => ({
      title: `Send a test from ${address}`,
      note: 'Mailbox',
      path: `${to`/mailboxes/${address}`}?tab=test`,
    })),
    {
      title: 'Sign out',
      note: person.email,
      path: '/account',
      words: 'log out logout leave exit',
      act: leave,
    },
  ];
}

function placeOf(entry: PageEntry, known: { project: string }): Command[] {
  const { path, title, words = '' } = entry;
  const is_of_project = path.startsWith('/projects/:project');
  const names = path.split('/:').length - 1;
  if (!mayOpen(entry) || names > (is_of_project && known.project !== '' ? 1 : 0) || path === '/sign-in')
    return [];
  const note = is_of_project ? known.project : 'Satchel';
  return [
    {
      title: path === '/projects/:project' ? 'Home of the project' : title,
      note,
      path: path.replace(':project', encodeURIComponent(known.project)),
      words,
    },
  ];
}
