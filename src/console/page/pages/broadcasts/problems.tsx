/** What keeps a broadcast from being sent, each with the way to where it is mended. */
import type { ComponentChildren } from 'preact';
import type { Broadcast } from '../../api.generated.ts';
import { Icon } from '../../components/icon.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { tellLack } from '../marketing/lacks.ts';
import type { Check } from './before-it-goes.tsx';

interface ProblemsProps {
  path: { project: string; broadcast: string };
  of: Broadcast;
  problems: Check['problems'];
}

export function Problems(props: ProblemsProps) {
  return (
    <ul class="problems" aria-label="What is missing">
      {props.problems.map((problem) => (
        <li key={`${problem.code} ${problem.message}`}>
          <Icon name="warning" />
          <span>{tellLack(problem)}</span>
          <Mend {...props} code={problem.code} />
        </li>
      ))}
    </ul>
  );
}

function Mend({ path, of, code }: ProblemsProps & { code: string }): ComponentChildren {
  const edit = to`/projects/${path.project}/broadcasts/${path.broadcast}/edit`;
  const places: Readonly<Record<string, readonly [path: string, words: string]>> = {
    marketing_disabled: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    no_from_name: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    no_postal_address: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    list_archived: [to`/projects/${path.project}/lists/${of.list}`, 'The list'],
    no_mailbox: ['/mailboxes', 'Mailboxes'],
    mailbox_dns: ['/sending-domains', 'Domains'],
    public_url: ['/findings', 'Findings'],
    no_template: [edit, 'Write the mail'],
    template_missing: [edit, 'Choose another'],
    nobody: [edit, 'Change the filter'],
  };
  // Mailboxes and domains belong to the whole of Satchel.
  const is_of_admins = ['no_mailbox', 'mailbox_dns', 'public_url'].includes(code);
  if (is_of_admins && person.value?.can_administer !== true)
    return <span class="muted">For an administrator</span>;
  const is_of_template = code.startsWith('template_') && of.template !== null;
  const place =
    places[code] ??
    (is_of_template
      ? ([to`/projects/${path.project}/templates/${of.template ?? ''}`, 'The template'] as const)
      : ([edit, 'Edit the broadcast'] as const));
  return <a href={hrefOf(place[0])}>{place[1]}</a>;
}
