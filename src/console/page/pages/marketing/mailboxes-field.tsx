/** The mailboxes that a project's marketing goes out from: ticked by who may see all of them, written by others. */
import type { MarketingSettings } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { CheckField } from '../../components/check-field.tsx';
import { useFieldErrors } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { useAll } from '../../use-all.ts';

const HINT = 'None: every active mailbox for marketing.';

export function MailboxesField(props: { project: string; settings: MarketingSettings }) {
  const { accounts = [] } = props.settings;
  if (may('can_administer')) return <Ticked project={props.project} accounts={accounts} />;
  return (
    <TextAreaField
      name="accounts"
      label="Mailboxes"
      value={accounts.join('\n')}
      rows={2}
      hint={`Addresses that marketing goes out from, one on each line. ${HINT}`}
      is_mono
    />
  );
}

function Ticked({ project, accounts }: { project: string; accounts: readonly string[] }) {
  const load = useAll('GET /mailboxes', { query: { project } });
  const wrong = useFieldErrors('accounts');
  return (
    <fieldset class="field">
      <legend class="field-label">Mailboxes</legend>
      <Loaded load={load}>
        {(mailboxes) => {
          const able = mailboxes
            .filter((each) => each.for.includes('marketing'))
            .map(({ address }) => address);
          // One that was chosen and is for marketing no longer can be taken away here.
          const choices = [...new Set([...able, ...accounts])];
          return (
            <div class="checks">
              {choices.map((address) => (
                <CheckField
                  key={address}
                  name="accounts"
                  value={address}
                  label={address}
                  is_checked={accounts.includes(address)}
                />
              ))}
              {choices.length === 0 && <p class="muted">No mailbox is for marketing yet.</p>}
            </div>
          );
        }}
      </Loaded>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      <p class="hint">Those that marketing goes out from. {HINT}</p>
    </fieldset>
  );
}
