/** What mends a finding: the page where it is done, if there is one, and the command. */
import { Command } from '../../components/command.tsx';
import { hrefOf, to } from '../../router.ts';

/** Commands that a page does as well, with the page's address. One that is quoted for the shell stays a command. */
const PAGES: readonly (readonly [command: RegExp, path: (named: string) => string, label: string])[] = [
  [/^satchel domain \S+ (\S+)/, (name) => to`/sending-domains/${name}`, 'To the domain'],
  [
    /^satchel mailbox (?!add)\S+ ([^\s']+@[^\s']+)(?: |$)/,
    (address) => to`/mailboxes/${address}`,
    'To the mailbox',
  ],
  [/^satchel mailbox (add)/, () => '/mailboxes/new', 'Add a mailbox'],
  [/^satchel vault .*--project (\S+)/, (slug) => to`/projects/${slug}/vault`, 'To the vault'],
  [/--project (\S+)/, (slug) => to`/projects/${slug}`, 'To the project'],
];

export function Remedy({ of }: { of: string }) {
  const page = findMending(of);
  const is_command = /^[a-z]\S* /.test(of) && !of.includes(', ');
  return (
    <div class="row">
      {page && <a href={hrefOf(page.path)}>{page.label}</a>}
      {is_command ? <Command of={of} /> : <p class="muted said">{of}</p>}
    </div>
  );
}

function findMending(remedy: string): { path: string; label: string } | null {
  for (const [command, pathOf, label] of PAGES) {
    const named = command.exec(remedy)?.[1];
    if (named !== undefined) return { path: pathOf(named), label };
  }
  return null;
}
