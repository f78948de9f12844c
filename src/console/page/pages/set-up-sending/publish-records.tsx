/** The records of the domain, to copy, looked up again by themselves until they are found. */
import { useEffect, useState } from 'preact/hooks';
import type {
  CheckedDnsRecord,
  DnsRecord,
  SendingDomainCheck,
  SendingDomainDetails,
} from '../../api.generated.ts';
import { call, is_connected } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Panel } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { RecordToPublish } from '../sending-domains/record-to-publish.tsx';

/** New records are seen within minutes at most providers. */
const LOOK_EVERY_MS = 10_000;

export function PublishRecords({ of, onChange }: { of: SendingDomainDetails; onChange(): void }) {
  const [check, setCheck] = useState<SendingDomainCheck | null>(null);
  const is_found = of.is_verified || check?.is_verified === true;
  const look = async (): Promise<void> => {
    const checked = await call('POST /sending-domains/{name}/verify', { path: { name: of.name } });
    setCheck(checked);
    if (checked.is_verified) onChange();
  };
  useEffect(() => {
    if (is_found) return;
    const again = (): void => {
      // The next turn says it, should this one be refused.
      if (!document.hidden && is_connected.value) void look().catch(() => {});
    };
    again();
    const timer = setInterval(again, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [is_found, of.name]);
  return (
    <Panel
      title="1. Publish the records"
      actions={<Status of={is_found ? 'verified' : 'waiting'} tone={is_found ? 'good' : 'warn'} />}
      lead={
        is_found
          ? ''
          : `In the DNS of the domain, at ${check?.dns_provider ?? 'whoever runs it'}. Where a form adds the domain’s name by itself, leave it off the name. They are looked up every ten seconds while you are here.`
      }
    >
      {is_found ? (
        <p class="muted">They are found: receivers know that the mail is yours.</p>
      ) : (
        <div class="stack">
          <div class="records">
            {(check?.records ?? of.records).map((record) => (
              <RecordToPublish key={record.purpose} of={calm(record)} />
            ))}
          </div>
          <div>
            <ActionButton act={look}>Look them up now</ActionButton>
          </div>
        </div>
      )}
    </Panel>
  );
}

/** Drops the problem of a missing record: while it is being published that is no fault, and its status says so. */
function calm(record: DnsRecord | CheckedDnsRecord): DnsRecord | CheckedDnsRecord {
  return 'status' in record && record.status === 'missing' ? { ...record, problem: null } : record;
}
