/** A page for people who are not signed in: one card in the middle. */
import type { ComponentChildren } from 'preact';
import { PageHeader } from './page-header.tsx';

export function Gate({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="gate">
      <main>
        <div class="panel gate-card">
          <span class="brand-mark" aria-hidden="true" />
          <PageHeader title={title} lead={lead} />
          {children}
        </div>
      </main>
    </div>
  );
}
