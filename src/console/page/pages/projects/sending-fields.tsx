/** The sending domains that a project's mail goes by: for who administers, where there are several. */
import type { Project } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { type Entered, useFieldErrors } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useAll } from '../../use-all.ts';

type Sending = Pick<Project, 'sending_domain' | 'sending_domains'>;

export function SendingFields({ project }: { project: Sending }) {
  const load = useAll('GET /sending-domains', {});
  const wrong = useFieldErrors('sending_domains');
  const { sending_domain, sending_domains } = project;
  return (
    <Loaded load={load}>
      {(domains) => {
        // One that it names and that is not there can be taken away here.
        const named = [...(sending_domain === null ? [] : [sending_domain]), ...(sending_domains ?? [])];
        const names = [...new Set([...domains.map(({ name }) => name), ...named])];
        if (names.length < 2) return null;
        return (
          <>
            <fieldset class="field">
              <legend class="field-label">Sending domains</legend>
              <div class="checks">
                {names.map((name) => (
                  <CheckField
                    key={name}
                    name="sending_domains"
                    value={name}
                    label={name}
                    is_checked={sending_domains?.includes(name) ?? false}
                  />
                ))}
              </div>
              {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
              <p class="hint">The only ones that its mail may go out from; others may, too. None: any.</p>
            </fieldset>
            <SelectField
              name="sending_domain"
              label="Sends from"
              value={sending_domain ?? ''}
              choices={[
                ['', 'The default domain, else its first'],
                ...names.map((name) => [name, name] as const),
              ]}
              hint="What mail goes out from that names no domain."
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** What was changed of it; nothing where there was no choice. What is as it was is not sent, as it may name what is not there yet. */
export function enteredSending(entered: Entered, before: Sending): Partial<Sending> {
  if (!entered.names('sending_domain').includes('sending_domain')) return {};
  const sending_domain = entered.textOrNull('sending_domain');
  const ticked = entered.all('sending_domains');
  const are_same = ticked.toSorted().join() === (before.sending_domains ?? []).toSorted().join();
  return {
    ...(sending_domain !== before.sending_domain && { sending_domain }),
    ...(!are_same && { sending_domains: ticked.length > 0 ? ticked : null }),
  };
}
