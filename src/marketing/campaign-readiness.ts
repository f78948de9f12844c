/**
 * What must be in place before marketing mail goes out to a list, for sequences and broadcasts: one rule a
 * problem.
 */

import type { MailboxDnsCheck } from '../mail/sending-domains/service.ts';
import type { TemplateFacts } from '../mail/templates/service.ts';
import type { Settings } from './settings/service.ts';

export interface Problem {
  /** Stable, for programs. */
  code: string;
  message: string;
  /** Key of the sequence's step that it is about. */
  step?: string;
}

export function explainProblem({ step, message }: Problem): string {
  return step === undefined ? message : `${step}: ${message}`;
}

export interface ReadinessFacts {
  settings: Settings;
  /** Of each mailbox that the project's marketing may go out from; null where all of them capture. */
  mailboxes: readonly MailboxDnsCheck[] | null;
  /** Why none of these mailboxes takes mail now, whatever its records; null where one does. */
  problem_of_mailboxes: string | null;
  /** Why links in its mails would lead nowhere; null where they lead here. */
  problem_of_links: string | null;
  is_list_archived: boolean;
}

export const problem = (is_there: boolean, code: string, message: string): Problem[] =>
  is_there ? [{ code, message }] : [];

/** What is missing of settings, list, mailboxes and links, whatever is to be sent. */
export function readinessProblems(facts: ReadinessFacts): Problem[] {
  const { settings, problem_of_links } = facts;
  return [
    ...problem(
      !settings.enabled,
      'marketing_disabled',
      'Marketing is not enabled: set enabled in the marketing settings.',
    ),
    ...problem(settings.from_name === null, 'no_from_name', 'The marketing settings have no from_name.'),
    ...problem(
      settings.postal_address === null,
      'no_postal_address',
      'The marketing settings have no postal_address.',
    ),
    ...problem(facts.is_list_archived, 'list_archived', 'The list is archived.'),
    ...mailboxProblems(facts),
    ...problem(problem_of_links !== null, 'public_url', problem_of_links ?? ''),
  ];
}

function mailboxProblems({ mailboxes, problem_of_mailboxes }: ReadinessFacts): Problem[] {
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

/**
 * Why the mail of a template may not go out; empty where it may. `step` is the key of the step that uses the
 * template.
 */
export function templateProblems(slug: string, template: TemplateFacts | null, step?: string): Problem[] {
  const told = (code: string, message: string): Problem => ({
    code,
    message: `The template ${slug} ${message}`,
    ...(step === undefined ? {} : { step }),
  });
  if (!template) return [told('template_missing', 'does not exist in this project.')];
  const missing = ['unsubscribe_url', 'postal_address'].filter((name) => !template.placeholders.has(name));
  return [
    ...(template.is_marketing
      ? []
      : [told('template_not_marketing', 'is not for marketing (is_marketing).')]),
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
