/** What a person or a token may do, and where, in a list. */
import { CAPABILITIES, type Capability, capabilitiesOf } from '../../capabilities.ts';
import { Badge } from '../../components/badge.tsx';
import { counted } from '../../components/quantity.tsx';

export function Capabilities({ of }: { of: Partial<Record<Capability | 'read_only', boolean>> }) {
  const has = capabilitiesOf(of);
  if (has.length === 0 && !of.read_only) return <span class="muted">projects only</span>;
  if (has.length === Object.keys(CAPABILITIES).length) return <Badge tone="accent">everything</Badge>;
  return (
    <span class="badges">
      {of.read_only && <Badge>read-only</Badge>}
      {has.map((each) => (
        <Badge key={each}>{CAPABILITIES[each][0].toLowerCase()}</Badge>
      ))}
    </span>
  );
}

export function Where({ of }: { of: { all_projects: boolean; projects?: readonly { name: string }[] } }) {
  const { all_projects, projects = [] } = of;
  if (all_projects) return <>all projects</>;
  const names = projects.map(({ name }) => name).join(', ');
  return <span title={names}>{projects.length === 1 ? names : counted(projects.length, 'project')}</span>;
}
