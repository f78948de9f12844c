/** What must be in place before a sequence is activated: one rule a problem, for /check and for activation alike. */

import type { TemplateFacts } from '../../mail/templates/service.ts';
import type { MailboxDnsCheck, Settings } from '../settings/service.ts';
import type { Step, Tracks } from './model.ts';

export interface Problem {
  /** Stable, for programs. */
  code: string;
  message: string;
  /** Key of the step that it is about. */
  step?: string;
}

export function explainProblem({ step, message }: Problem): string {
  return step === undefined ? message : `${step}: ${message}`;
}

interface ActivationFacts {
  settings: Settings;
  /** Of each mailbox that the project's marketing may go out from; null where all of them capture. */
  mailboxes: readonly MailboxDnsCheck[] | null;
  /** Why none of these mailboxes takes mail now, whatever its records; null where one does. */
  problem_of_mailboxes: string | null;
  /** Why links in its mails would lead nowhere; null where they lead here. */
  problem_of_links: string | null;
  is_list_archived: boolean;
  steps: readonly Step[];
  tracks: Tracks;
  templateOf(slug: string): TemplateFacts | null;
  matching_contacts: number;
  max_recipients: number;
}

type Rule = (facts: ActivationFacts) => Problem[];

const problem = (is_there: boolean, code: string, message: string): Problem[] =>
  is_there ? [{ code, message }] : [];

const RULES: readonly Rule[] = [
  ({ settings }) =>
    problem(
      !settings.enabled,
      'marketing_disabled',
      'Marketing is not enabled: set enabled in the marketing settings.',
    ),
  ({ settings }) =>
    problem(settings.from_name === null, 'no_from_name', 'The marketing settings have no from_name.'),
  ({ settings }) =>
    problem(
      settings.postal_address === null,
      'no_postal_address',
      'The marketing settings have no postal_address.',
    ),
  ({ is_list_archived }) => problem(is_list_archived, 'list_archived', 'The list is archived.'),
  mailboxRule,
  ({ problem_of_links }) => problem(problem_of_links !== null, 'public_url', problem_of_links ?? ''),
  ({ steps }) => problem(steps.length === 0, 'no_steps', 'The sequence has no steps.'),
  ({ steps, templateOf }) => steps.flatMap((step) => templateProblems(step, templateOf(step.template))),
  trackRule,
  ({ steps, tracks }) =>
    steps.flatMap(({ key, otherwise }) =>
      typeof otherwise === 'object' && !tracks.has(otherwise.route_to)
        ? [
            {
              code: 'unknown_track',
              message: `route_to names the track ${otherwise.route_to}, which has no steps.`,
              step: key,
            },
          ]
        : [],
    ),
  ({ matching_contacts, max_recipients }) =>
    problem(
      matching_contacts > max_recipients,
      'too_many_recipients',
      `${matching_contacts} contacts match, and max_recipients is ${max_recipients}.`,
    ),
];

/** What is missing from the settings so that a running sequence's mail has to wait, in words; null where nothing is. */
export function lackOf({ enabled, from_name, postal_address }: Settings): string | null {
  if (!enabled) return 'marketing to be enabled in the settings';
  if (from_name === null) return 'the marketing settings to have a from_name';
  return postal_address === null ? 'the marketing settings to have a postal_address' : null;
}

/** Everything that keeps a sequence from being activated; empty when it is ready. */
export function findProblems(facts: ActivationFacts): Problem[] {
  return RULES.flatMap((rule) => rule(facts));
}

function mailboxRule({ mailboxes, problem_of_mailboxes }: ActivationFacts): Problem[] {
  // The records of a mailbox that captures are not looked up, but its domain must be in use all the same.
  if (mailboxes === null)
    return problem(
      problem_of_mailboxes !== null,
      'no_mailbox',
      `${problem_of_mailboxes} Try it without DNS records: satchel domain trust NAME. See: satchel mailbox list`,
    );
  if (mailboxes.length === 0)
    return [
      {
        code: 'no_mailbox',
        message:
          'No active mailbox is for marketing: satchel mailbox add ADDRESS --smtp RELAY --for marketing',
      },
    ];
  if (mailboxes.some(({ spf, dkim, dmarc }) => spf.ok && dkim.ok && dmarc.ok)) return [];
  // Mailboxes of one domain have the same records, and so the same problems.
  const told = Map.groupBy(mailboxes, (records) => {
    const wrong = (['spf', 'dkim', 'dmarc'] as const).filter((kind) => !records[kind].ok);
    const problems = Map.groupBy(wrong, (kind) => records[kind].problem ?? 'There is no such record.');
    const words = [...problems].map(([problem, kinds]) => `${kinds.join(', ').toUpperCase()}: ${problem}`);
    return words.join(' ');
  });
  const words = [...told].map(
    ([problems, of]) => `${of.map(({ address }) => address).join(', ')}: ${problems}`,
  );
  return [
    {
      code: 'mailbox_dns',
      message: `No marketing mailbox has SPF, DKIM and DMARC in place. ${words.join(' ')} See: satchel domain verify NAME`,
    },
  ];
}

/** Why the mail of a step's template may not go out; empty when it may. */
export function templateProblems(
  { key: step, template: slug }: Pick<Step, 'key' | 'template'>,
  template: TemplateFacts | null,
): Problem[] {
  const told = (code: string, message: string): Problem => ({
    code,
    message: `The template ${slug} ${message}`,
    step,
  });
  if (!template) return [told('template_missing', 'does not exist in this project.')];
  const missing = ['unsubscribe_url', 'postal_address'].filter((name) => !template.placeholders.has(name));
  return [
    ...(template.is_marketing ? [] : [told('template_not_marketing', 'is no marketing template.')]),
    ...(template.is_active ? [] : [told('template_inactive', 'is inactive.')]),
    ...(template.has_text ? [] : [told('template_without_text', 'has no text part (body_text).')]),
    ...(template.has_layout || missing.length === 0
      ? []
      : [
          told(
            'template_without_footer',
            `has neither the marketing layout nor its own {{${missing.join('}} and {{')}}}.`,
          ),
        ]),
  ];
}

function trackRule({ tracks }: ActivationFacts): Problem[] {
  return [...tracks].flatMap(([track, steps]): Problem[] => {
    const finals = steps.filter(({ is_final }) => is_final);
    const last = steps.at(-1);
    if (finals.length === 1 && last?.is_final) return [];
    const message =
      finals.length === 0
        ? `The track ${track} has no final step: its last one must be is_final.`
        : `The track ${track} must end in exactly one final step, which is its last.`;
    return [{ code: 'track_end', message, ...(last ? { step: last.key } : {}) }];
  });
}
