/** What keeps a sequence from starting, each with the way to where it is mended. */
import type { ComponentChildren } from 'preact';
import type { Sequence } from '../../api.generated.ts';
import type { Answer } from '../../api.ts';
import { Icon } from '../../components/icon.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';

type Check = Answer<'GET /projects/{project}/email-sequences/{sequence}/check'>;
type Problem = Check['problems'][number];

export function Problems(props: {
  path: { project: string; sequence: string };
  of: Sequence;
  problems: readonly Problem[];
}) {
  return (
    <ul class="problems" aria-label="What is missing">
      {props.problems.map((problem) => (
        <li key={`${problem.code} ${problem.step ?? ''} ${problem.message}`}>
          <Icon name="warning" />
          <span>
            {problem.step !== undefined && (
              <>
                <strong>{problem.step}</strong>:{' '}
              </>
            )}
            {tell(problem)}
          </span>
          <Mend {...props} problem={problem} />
        </li>
      ))}
    </ul>
  );
}

/** In the words of the page, where the API speaks of its own fields. */
function tell({ code, message }: Problem): string {
  if (code === 'track_end') return 'Its track does not end with its last step: saving the steps mends that.';
  return message.replace(/^route_to names/, 'It leads to').replace('max_recipients', 'their maximum number');
}

function Mend(props: {
  path: { project: string; sequence: string };
  of: Sequence;
  problem: Problem;
}): ComponentChildren {
  const { path, of, problem } = props;
  const here = to`/projects/${path.project}/sequences/${path.sequence}`;
  const at_step = problem.step === undefined ? here : `${here}?step=${encodeURIComponent(problem.step)}`;
  const settings = `${here}?tab=settings`;
  const template = of.steps.find(({ key }) => key === problem.step)?.template ?? '';
  const places: Readonly<Record<string, readonly [path: string, words: string]>> = {
    marketing_disabled: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    no_from_name: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    no_postal_address: [to`/projects/${path.project}/marketing`, 'Marketing settings'],
    list_archived: [to`/projects/${path.project}/lists/${of.list}`, 'The list'],
    no_mailbox: ['/mailboxes', 'Mailboxes'],
    mailbox_dns: ['/sending-domains', 'Domains'],
    public_url: ['/findings', 'Findings'],
    template_missing: [at_step, 'Choose another'],
    template_not_marketing: [to`/projects/${path.project}/templates/${template}`, 'The template'],
    template_inactive: [to`/projects/${path.project}/templates/${template}`, 'The template'],
    template_without_text: [to`/projects/${path.project}/templates/${template}`, 'The template'],
    template_without_footer: [to`/projects/${path.project}/templates/${template}`, 'The template'],
    unknown_track: [at_step, 'Edit the step'],
    too_many_recipients: [settings, 'Settings'],
  };
  // Mailboxes and domains belong to the whole of Satchel.
  const is_of_admins = ['no_mailbox', 'mailbox_dns', 'public_url'].includes(problem.code);
  if (is_of_admins && person.value?.can_administer !== true)
    return <span class="muted">For an administrator</span>;
  // Saving the steps ends each track with its last, and whoever has none sees where to write them.
  if (problem.code === 'track_end' || problem.code === 'no_steps') return null;
  const [href, words] = places[problem.code] ?? [at_step, 'Edit the step'];
  return <a href={hrefOf(href)}>{words}</a>;
}
