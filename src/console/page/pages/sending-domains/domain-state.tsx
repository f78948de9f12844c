/** Tells in a word whether mail goes out from a domain. */
import type { SendingDomain } from '../../api.generated.ts';
import { Badge, Status } from '../../components/status.tsx';

type State = Pick<SendingDomain, 'is_active' | 'is_verified' | 'is_trusted' | 'is_default'>;

export function DomainState({ of }: { of: State }) {
  return (
    <span class="badges">
      {of.is_active ? <Usable of={of} /> : <Status of="inactive" />}
      {of.is_default && <Badge tone="accent">default</Badge>}
    </span>
  );
}

function Usable({ of }: { of: State }) {
  if (of.is_verified) return <Status of="verified" />;
  return of.is_trusted ? <Status of="trusted" tone="good" /> : <Status of="unverified" />;
}
