/** Grey lines where text is on its way. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div class="stack" aria-busy="true">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class={`skeleton${index % 2 ? ' half' : ''}`} />
      ))}
    </div>
  );
}
