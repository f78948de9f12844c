/** One DNS record to publish: its name and value to copy, and, once it was looked up, what is wrong with it. */
import type { CheckedDnsRecord, DnsRecord } from '../../api.generated.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Badge, Status } from '../../components/status.tsx';

const PURPOSES: Readonly<Record<DnsRecord['purpose'], readonly [title: string, why: string]>> = {
  ownership: ['Ownership', 'Shows Satchel that the domain is yours.'],
  spf: ['SPF', 'Names the servers that may send for the domain. There may be one SPF record only.'],
  dkim: ['DKIM', 'The public part of the key that its mail is signed with.'],
  dmarc: ['DMARC', 'Tells receivers what to do with mail that only claims to be yours. Marketing needs it.'],
  mta_sts: ['MTA-STS', 'Has others send you mail over TLS only. It needs its policy on the web, too.'],
  tls_rpt: ['TLS-RPT', 'Where others report that TLS failed.'],
};

const TONES = {
  found: 'good',
  missing: 'bad',
  wrong: 'bad',
  unknown: 'warn',
  unneeded: 'neutral',
} as const;

export function RecordToPublish({ of }: { of: DnsRecord | CheckedDnsRecord }) {
  const { purpose, type, name, value } = of;
  const [title, why] = PURPOSES[purpose];
  const check = 'status' in of ? of : null;
  const is_amiss = check?.status === 'missing' || check?.status === 'wrong';
  return (
    <section class="record" aria-label={title}>
      <div class="row">
        <h3>{title}</h3>
        <Badge>{type}</Badge>
        {check && <Status of={check.status} tone={TONES[check.status]} />}
        <span class="muted">{why}</span>
      </div>
      {check?.problem && (
        <div class={`notice ${is_amiss ? 'bad' : 'warn'}`}>
          <p>{check.problem}</p>
          {check.found !== null && (
            <p>
              There now: <code>{check.found}</code>
            </p>
          )}
        </div>
      )}
      <dl class="record-fields">
        <dt>Name</dt>
        <dd>
          <code>{name}</code>
          <CopyButton text={name} label={`Copy the name of the ${title} record`} />
        </dd>
        <dt>Value</dt>
        <dd>
          <code class={purpose === 'dkim' ? 'clipped' : undefined}>{value}</code>
          <CopyButton text={value} label={`Copy the value of the ${title} record`} />
        </dd>
      </dl>
    </section>
  );
}
