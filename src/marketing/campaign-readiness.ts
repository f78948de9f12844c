/**
 * What must be in place before marketing mail goes out to a list, for sequences and broadcasts: one rule a
 * problem.
 */

import type { TemplateFacts } from '../mail/templates/service.ts';
import { type Lack, lackIf, type OutletFacts, outletLacks, senderLacks } from './settings/service.ts';

export interface Problem extends Lack {
  /** Key of the sequence's step that it is about. */
  step?: string;
}

export function explainProblem({ step, message }: Problem): string {
  return step === undefined ? message : `${step}: ${message}`;
}

export interface ReadinessFacts extends OutletFacts {
  is_list_archived: boolean;
}

/** What is missing of settings, list, mailboxes and links, whatever is to be sent. */
export function readinessProblems(facts: ReadinessFacts): Problem[] {
  return [
    ...senderLacks(facts.settings),
    ...lackIf(facts.is_list_archived, 'list_archived', 'The list is archived.'),
    ...outletLacks(facts),
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
    ...(template.is_unwritten
      ? [told('unwritten', 'still says what editors start with: "Write here what the mail is about."')]
      : []),
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
