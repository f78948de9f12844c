/** The way to where a lack is mended that keeps marketing mail from going out. */
import { hrefOf, to, usePath } from '../../router.ts';
import { person } from '../../session.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';

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
