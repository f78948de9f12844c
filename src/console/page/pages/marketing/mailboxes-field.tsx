/** The mailboxes that a project's marketing goes out from: ticked by who may see all of them, written by others. */
import type { MarketingSettings } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { ChecksField, TextAreaField } from '../../components/fields.tsx';
import { Loaded } from '../../components/page.tsx';
import { useAll } from '../../use-load.ts';

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
  return (
    <Loaded load={load}>
      {(mailboxes) => {
        const able = mailboxes.flatMap((each) => (each.for.includes('marketing') ? [each.address] : []));
        // One that was chosen and is for marketing no longer can be taken away here.
        const choices = [...new Set([...able, ...accounts])];
        return (
          <ChecksField
            name="accounts"
            label="Mailboxes"
            choices={choices.map((address) => [address, address])}
            value={accounts}
            hint={`Those that marketing goes out from. ${HINT}`}
          >
            {choices.length === 0 && <p class="muted">No mailbox is for marketing yet.</p>}
          </ChecksField>
        );
      }}
    </Loaded>
  );
}
