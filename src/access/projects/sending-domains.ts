/** The sending domains of a project, as somebody sets them: which ones its mail may go by, by name. */
import { type FieldErrors, refuseAll, toDo } from '../../errors.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import type { ProjectChanges } from './schemas.ts';
import type { Sending } from './store.ts';

const remedy = toDo('sending_domain', 'satchel domain list');
const UNKNOWN = `must be a sending domain of this server: ${remedy.command}`;

/**
 * The domains after a change; `current` is null for a new project. What is not sent stays, even unknown
 * domains, as after an import. Throws AppError `invalid` by field.
 */
export function mergeSending(
  current: Sending | null,
  sent: Pick<ProjectChanges, 'sending_domain' | 'sending_domains'>,
  unknownOf: (names: readonly string[]) => readonly string[],
): Sending {
  const domain = sent.sending_domain && nameOf(sent.sending_domain);
  const domains = sent.sending_domains?.map(nameOf);
  const named = [...(domain ? [domain] : []), ...(domains ?? [])];
  const unknown = named.length === 0 ? [] : unknownOf(named);
  const errors: FieldErrors = {};
  if (domain && unknown.includes(domain)) errors.sending_domain = [UNKNOWN];
  domains?.forEach((name, index) => {
    if (unknown.includes(name)) errors[`sending_domains.${index}`] = [UNKNOWN];
  });
  const sending: Sending = {
    sending_domain: domain === undefined ? (current?.sending_domain ?? null) : domain,
    sending_domains:
      sent.sending_domains === undefined
        ? (current?.sending_domains ?? null)
        : domains
          ? [...new Set(domains)]
          : null,
  };
  const { sending_domain, sending_domains } = sending;
  if (named.length > 0 && sending_domain && sending_domains && !sending_domains.includes(sending_domain))
    errors.sending_domain ??= [`must be one of sending_domains, or null (now ${sending_domain})`];
  refuseAll(errors, { remedy });
  return sending;
}

function nameOf(name: string): string {
  return canonicalDomain(name) ?? name;
}
