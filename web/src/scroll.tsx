/** What may be wider than the page: it is scrolled, by keys as well where it is. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function Scroll({ children }: { children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const [isLonger, setLonger] = useState(false);
  useLayoutEffect(() => {
    const at = place.current!;
    const measure = () => setLonger(at.scrollWidth > at.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(at);
    if (at.firstElementChild) observer.observe(at.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="scroll" ref={place} tabIndex={isLonger ? 0 : undefined}>
      {children}
    </div>
  );
}
