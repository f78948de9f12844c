/** A word about a thing that is no state: a permission, a kind. */
export function Badge({
  children,
  tone = 'neutral',
}: {
  children: string;
  tone?: 'neutral' | 'accent' | 'warn' | 'bad';
}) {
  return <span class={`badge plain ${tone}`}>{children}</span>;
}
