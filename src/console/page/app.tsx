/** The whole: who is signed in, which page is shown, and what is around it. */
import { useEffect } from 'preact/hooks';
import { is_connected, reconnections } from './api.ts';
import { Banner } from './components/banner.tsx';
import { PageView } from './components/page-view.tsx';
import { Shell } from './components/shell.tsx';
import { Toasts } from './components/toast.tsx';
import { askToSignIn, loadSession, person, useIsOpenPage } from './session.ts';

export function App() {
  const is_open = useIsOpenPage();
  const who = person.value;
  const epoch = reconnections.value;
  // After a reconnection it is asked again.
  useEffect(() => {
    if (person.value === undefined) void loadSession();
  }, [epoch]);
  useEffect(() => {
    if (who === null && !is_open) askToSignIn();
  }, [who, is_open]);
  return (
    <>
      {!is_connected.value && <Banner />}
      {is_open ? <PageView /> : who ? <Shell person={who} /> : null}
      <Toasts />
    </>
  );
}
