/** Parts of a page, each with an address of its own: `?tab=` says which one is shown. */
import { hrefOf, usePath, useQuery } from '../router.ts';

export function useTab<T extends string>(names: readonly [T, ...T[]]): T {
  const asked = useQuery().get('tab');
  return names.find((name) => name === asked) ?? names[0];
}

export function Tabs<T extends string>({ tabs, now }: { tabs: Readonly<Record<T, string>>; now: T }) {
  const path = usePath();
  const entries = Object.entries<string>(tabs);
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {entries.map(([name, title], index) => (
        <a
          key={name}
          href={hrefOf(path) + (index === 0 ? '' : `?tab=${name}`)}
          aria-current={name === now ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
