/** Tells above lists, broadcasts and sequences what a project lacks before any of its marketing mail can go out. */
import { Icon } from '../../components/icon.tsx';
import { hrefOf, to, usePath } from '../../router.ts';
import { person } from '../../session.ts';
import { useLoad } from '../../use-load.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';

export function Lacking({ project }: { project: string }) {
  const { data } = useLoad('GET /projects/{project}/email-marketing/settings', { path: { project } });
  const lacks = data?.lacks ?? [];
  if (lacks.length === 0) return null;
  return (
    <section class="notice warn over-list" aria-label="What marketing lacks">
      <p>No newsletter and no sequence can go out yet:</p>
      <ul class="problems">
        {lacks.map((lack) => (
          <li key={lack.code}>
            <Icon name="warning" />
            <span>{tellLack(lack)}</span>
            <Mend project={project} code={lack.code} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Obstacles to marketing mail, in the words of the console: the API's are for those who write JSON or commands. */
export const LACKS = {
  marketing_disabled: 'Marketing is not enabled.',
  no_from_name: 'There is no from name.',
  no_postal_address: 'There is no postal address.',
  no_template: 'There is no mail yet.',
  unwritten: 'The mail still says “Write here what the mail is about.”',
} as const;

/** A command of the shell, in place of which the console has a link. */
const COMMAND = /(?::| See:| Try it [^:]*:) satchel .*$/;

/** A problem of a check, without what one would type. */
export function tellLack({ code, message }: { code: string; message: string }): string {
  if (Object.hasOwn(LACKS, code)) return LACKS[code as keyof typeof LACKS];
  // A name in brackets is the field's in the API.
  const told = message.replace(COMMAND, '').replace(/ \([a-z_]+\)/, '');
  return /[.!?]$/.test(told) ? told : `${told}.`;
}

/** The way to where a lack is mended that keeps marketing mail from going out. */
export type Place = readonly [path: string, words: string];

/** Mailboxes and domains belong to the whole of Satchel. */
const OF_ADMINS: Readonly<Record<string, Place>> = {
  mailbox_dns: ['/sending-domains', 'Domains'],
  public_url: ['/findings', 'Findings'],
};

/** `place` is where all is mended that is no matter of the project's settings or its `list`. */
export function Mend(props: { project: string; list?: string; code: string; place?: Place }) {
  const { project, list = '', code } = props;
  const settings: Place = [to`/projects/${project}/marketing`, 'Marketing settings'];
  const { place = settings } = props;
  const shared: Readonly<Record<string, Place>> = {
    marketing_disabled: settings,
    no_from_name: settings,
    no_postal_address: settings,
    list_archived: [to`/projects/${project}/lists/${list}`, 'The list'],
  };
  const set_up: Place = [wayToSetUp(usePath()), 'Set up sending'];
  const of_admins = code === 'no_mailbox' ? set_up : OF_ADMINS[code];
  if (of_admins && person.value?.can_administer !== true)
    return <span class="muted">For an administrator</span>;
  const [path, words] = of_admins ?? shared[code] ?? place;
  return <a href={hrefOf(path)}>{words}</a>;
}
