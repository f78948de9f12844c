/** The page of the address: loaded when it is first opened, with its title told and its heading focused. */
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isMissing, reloads } from '../api.ts';
import { mayWriteAt, placeOf } from '../capabilities.ts';
import { PAGES, type PageEntry, type PageProps } from '../pages.ts';
import { matchPath, usePath } from '../router.ts';
import { Empty, PageHeader, Skeleton } from './page.tsx';

export interface Match {
  entry: PageEntry;
  params: Record<string, string>;
}

/** The page of a path; a literal name comes before one that stands for any. */
export function findPage(path: string): Match | null {
  const matches = PAGES.flatMap((entry) => {
    const params = matchPath(entry.path, path);
    return params ? [{ entry, params }] : [];
  });
  const names = ({ params }: Match): number => Object.keys(params).length;
  return matches.toSorted((a, b) => names(a) - names(b))[0] ?? null;
}

placeOf.find = (path) => findPage(path)?.entry ?? null;

const loaded = new Map<PageEntry, ComponentType<PageProps<string>>>();

export function PageView() {
  const path = usePath();
  const match = findPage(path);
  const [, setTurn] = useState(0);
  const [failed, setFailed] = useState<PageEntry | null>(null);
  const epoch = reloads.value;
  const is_first = useRef(true);
  const entry = match?.entry ?? null;
  const Page = entry ? loaded.get(entry) : undefined;
  useEffect(() => {
    if (!entry || loaded.has(entry)) return;
    const show = (component: ComponentType<PageProps<string>>): void => {
      loaded.set(entry, component);
      setTurn((at) => at + 1);
    };
    entry.load().then(show, async () => {
      // Without a server it is loaded by itself once there is one again. One that came back meanwhile is asked once more.
      if (await isMissing()) entry.load().then(show, () => setFailed(entry));
    });
  }, [entry, epoch]);
  // A page of another title may name itself better, in PageHeader, which runs before this does.
  // A page of the same file at another path is another page.
  useEffect(() => {
    if (!Page && match) return;
    // A page that begins with a field to fill has the focus there.
    const has_focus = document.activeElement?.matches('main [autofocus]') ?? false;
    if (is_first.current) is_first.current = false;
    else if (!has_focus) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [path, Page]);
  if (!entry || !match) {
    return (
      <>
        <PageHeader title="Not found" />
        <Empty drawing="nothing" title="There is no page here">
          <a href="/console">To the overview</a>
        </Empty>
      </>
    );
  }
  if (!mayWriteAt(entry.path)) {
    return (
      <>
        <PageHeader title={entry.title} />
        <Empty drawing="nothing" title="You may look, and change nothing" />
      </>
    );
  }
  if (failed === entry) {
    return (
      <>
        <PageHeader title={entry.title} />
        <Empty title="This page could not be loaded">
          <p>Satchel may have been upgraded since this tab was opened.</p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Reload
          </button>
        </Empty>
      </>
    );
  }
  if (!Page) {
    return (
      <>
        <PageHeader title={entry.title} />
        <Skeleton />
      </>
    );
  }
  return <Page key={path} params={match.params} />;
}
