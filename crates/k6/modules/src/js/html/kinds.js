// Members of all other kinds of elements: most reflect an attribute.
(lib) => {
    const { texts, flags, wholes, chosen, found, firstFound } = lib.rules;
    const { form, referrerPolicy, relList } = lib.rules;
    const { closest } = lib.walk;
    const crossOrigin = chosen("crossorigin", undefined, "anonymous use-credentials");
    const text = (doc, node) => doc.text(node);
    const media = {
        ...texts("currentSrc=src mediaGroup src"),
        ...flags("autoplay controls defaultMuted=muted loop muted"),
        crossOrigin,
        preload: chosen("preload", "auto", "none metadata"),
        textTracks: found("track"),
    };
    const change = texts("cite datetime");
    // Where a node is among those of its kind in what is around it.
    const placeIn = (around, css) => (doc, node) => {
        const whole = closest(doc, node, around);
        return whole === undefined ? 0 : doc.find(whole, css).indexOf(node);
    };
    const cell = {
        ...texts("headers"),
        ...wholes("colSpan rowSpan", 1),
        cellIndex: placeIn("tr", "td, th"),
    };
    const section = { rows: found("tr") };
    const images = (doc, map) => {
        const name = "#" + doc.attribute(map, "id");
        const users = doc.find(0, "img, object");
        return { nodes: users.filter((node) => doc.attribute(node, "usemap") === name) };
    };
    Object.assign(lib.kinds, {
        audio: media,
        base: texts("href target"),
        canvas: wholes("height width", 150),
        col: wholes("span", 1, 1),
        data: texts("value"),
        del: change,
        embed: texts("height src type width"),
        iframe: {
            ...texts("height name src width"),
            ...flags("allowfullscreen"),
            referrerPolicy,
        },
        img: {
            ...texts("alt currentSrc=src name sizes src srcset useMap"),
            ...flags("isMap"),
            ...wholes("height width", 0),
            crossOrigin,
            referrerPolicy,
        },
        ins: change,
        li: { ...wholes("value", 0), type: chosen("type", "", "1 a A i I disc circle square") },
        link: {
            ...texts("href hreflang media rel target type"),
            crossOrigin,
            referrerPolicy,
            relList,
        },
        map: { ...texts("name"), areas: found("area"), images },
        meta: {
            ...texts("content name"),
            httpEquiv: chosen("http-equiv", "content-type", "default-style refresh"),
        },
        object: {
            ...texts("data height name type useMap width"),
            ...flags("typeMustMatch"),
            ...wholes("tabIndex", 0),
            form,
        },
        ol: {
            ...flags("reversed"),
            ...wholes("start", 0),
            type: chosen("type", "1", "a A i I"),
        },
        param: texts("name value"),
        pre: texts("name value"),
        script: {
            ...texts("charset crossOrigin src type"),
            ...flags("async defer noModule"),
            text,
        },
        source: texts("keySystem media sizes src srcset type"),
        style: {
            ...texts("media"),
            type: (doc, node) => doc.attribute(node, "type") || "text/css",
        },
        table: {
            ...flags("sortable"),
            caption: firstFound("caption"),
            rows: found("tr"),
            tBodies: found("tbody"),
            tFoot: firstFound("tfoot"),
            tHead: firstFound("thead"),
        },
        tbody: section,
        td: cell,
        tfoot: section,
        th: {
            ...cell,
            ...texts("abbr"),
            ...flags("sorted"),
            scope: chosen("scope", "", "row col colgroup rowgroup"),
        },
        thead: section,
        time: texts("datetime"),
        title: { text },
        tr: {
            cells: found("td, th"),
            rowIndex: placeIn("table", "tr"),
            sectionRowIndex: placeIn("thead, tbody, tfoot", "tr"),
        },
        track: {
            ...texts("label src srclang"),
            ...flags("default"),
            kind: chosen("kind", "subtitle", "captions chapters descriptions metadata"),
        },
        ul: texts("type"),
        video: media,
    });
}
