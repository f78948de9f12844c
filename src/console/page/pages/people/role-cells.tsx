/** What a person or a token is there for, and where, in a list. */
import { counted } from '../../components/quantity.tsx';
import { type Holder, tellRole } from './roles.ts';

interface Scope {
  all_projects: boolean;
  projects?: readonly { name: string }[];
}

/** "Works in projects", and below it "Shop and Bakery". */
export function RoleOf({ of }: { of: Holder & Scope }) {
  const { all_projects, projects = [] } = of;
  const names = projects.map(({ name }) => name);
  const where = all_projects
    ? 'all projects'
    : names.length > 2
      ? counted(names.length, 'project')
      : names.join(' and ') || 'no project';
  return (
    <>
      {tellRole(of)}
      <span class="cell-note" title={names.join(', ')}>
        {where}
      </span>
    </>
  );
}
