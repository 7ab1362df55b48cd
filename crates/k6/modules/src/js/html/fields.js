// Members of forms and of what is in them.
(lib) => {
    const { has, closest, chosen: chosenOptions, valueOf, parentsOf } = lib.walk;
    const { texts, flags, wholes, chosen, found, always } = lib.rules;
    const withId = (doc, id) =>
        doc.find(0, "[id]").find((node) => doc.attribute(node, "id") === id);
    const formAround = (doc, node) => closest(doc, node, "form");
    const formOf = (doc, node) => {
        const id = doc.attribute(node, "form");
        return id === undefined ? formAround(doc, node) : withId(doc, id);
    };
    const form = (doc, node) => ({ node: formOf(doc, node) });
    const labels = (doc, node) => {
        const id = doc.attribute(node, "id");
        const all = doc.find(0, "label[for]");
        const named = all.filter((label) => doc.attribute(label, "for") === id);
        const around = parentsOf(doc, node).filter((other) => doc.name(other) === "label");
        return { nodes: [...new Set([...named, ...around])] };
    };
    const field = { form, labels };
    const ENCODED = "application/x-www-form-urlencoded";
    const encoding = (name) => chosen(name, ENCODED, "multipart/form-data text/plain");
    // What a button says of its form's submission, or else what the form says.
    const either = (own, forms, read) => (doc, node) => {
        const around = formOf(doc, node);
        if (has(doc, node, own) || around === undefined) return read(own)(doc, node);
        return read(forms)(doc, around);
    };
    const text = (name) => (doc, node) => doc.attribute(node, name) ?? "";
    const method = (name) => (doc, node) =>
        doc.attribute(node, name)?.toLowerCase() === "post" ? "post" : "get";
    const submission = {
        formAction: either("formaction", "action", text),
        formEnctype: either("formenctype", "enctype", encoding),
        formMethod: either("formmethod", "method", method),
        formTarget: either("formtarget", "target", text),
        formNoValidate: either("formnovalidate", "novalidate", (name) => (doc, node) =>
            has(doc, node, name),
        ),
    };
    const inputs = "button submit reset hidden search tel url email password date month week time";
    const more = " datetime-local number range color checkbox radio file image";
    const input = {
        ...field,
        ...submission,
        ...texts("accept accessKey alt defaultValue=value dirName height max min name pattern"),
        ...texts("placeholder src step value width"),
        ...flags("autofocus checked defaultChecked=checked disabled multiple readonly required"),
        ...wholes("maxLength", -1),
        ...wholes("size tabIndex", 0),
        autocomplete: chosen("autocomplete", "on", "off"),
        type: chosen("type", "text", inputs + more),
        list: (doc, node) => ({ node: withId(doc, doc.attribute(node, "list")) }),
    };
    const button = {
        ...field,
        ...submission,
        ...texts("accessKey name value"),
        ...flags("autofocus disabled"),
        ...wholes("tabIndex", 0),
        type: chosen("type", "submit", "button reset menu"),
    };
    const textarea = {
        ...field,
        ...texts("accessKey defaultValue=value placeholder value"),
        ...flags("readOnly required"),
        ...wholes("cols maxLength rows tabIndex", 0),
        autocapitalize: chosen("autocapitalize", "sentences", "none off characters words"),
        autocomplete: chosen("autocomplete", "on", "off"),
        length: (doc, node) => (doc.attribute(node, "value") ?? "").length,
        type: always("textarea"),
        wrap: chosen("wrap", "soft", "hard off"),
    };
    const optionsOf = (doc, node) => doc.find(node, "option");
    const select = {
        ...field,
        ...texts("name"),
        ...flags("autofocus disabled multiple required"),
        ...wholes("tabIndex", 0),
        length: (doc, node) => optionsOf(doc, node).length,
        options: found("option"),
        selectedIndex: (doc, node) =>
            optionsOf(doc, node).findIndex((option) => has(doc, option, "selected")),
        selectedOptions: (doc, node) => ({ nodes: chosenOptions(doc, node) }),
        size: (doc, node) => (has(doc, node, "multiple") ? 4 : 1),
        type: (doc, node) => (has(doc, node, "multiple") ? "select-multiple" : "select"),
        value: (doc, node) => {
            const [first] = chosenOptions(doc, node);
            return first === undefined ? "" : valueOf(doc, first);
        },
    };
    const closestForm = (doc, node) => ({ node: formAround(doc, node) });
    const option = {
        ...flags("defaultSelected=selected disabled selected"),
        form: closestForm,
        index: (doc, node) => {
            const list = closest(doc, node, "select, datalist");
            return list === undefined ? 0 : optionsOf(doc, list).indexOf(node);
        },
        label: (doc, node) => doc.attribute(node, "label") ?? doc.text(node),
        text: (doc, node) => doc.text(node),
        value: valueOf,
    };
    const positive = (doc, node, name) => {
        const value = Number.parseFloat(doc.attribute(node, name) ?? "");
        const isNumber = String(doc.attribute(node, name)).trim() !== "" && value >= 0;
        return isNumber && !Number.isNaN(Number(doc.attribute(node, name))) ? value : undefined;
    };
    const shareOf = (otherwise) => (doc, node) => {
        const value = positive(doc, node, "value");
        return value === undefined ? otherwise : value / (positive(doc, node, "max") ?? 1);
    };
    const WITHIN = "input, select, button, textarea";
    const controls = (doc, node) => doc.find(node, WITHIN + ", fieldset");
    const forms = {
        ...texts("acceptCharset=accept-charset action name target"),
        ...flags("noValidate"),
        autocomplete: chosen("autocomplete", "on", "off"),
        elements: (doc, node) => ({ nodes: controls(doc, node) }),
        encoding: encoding("enctype"),
        enctype: encoding("enctype"),
        length: (doc, node) => controls(doc, node).length,
        method: chosen("method", "get", "post"),
    };
    const output = (doc, node) => doc.text(node);
    Object.assign(lib.kinds, {
        button,
        datalist: { options: found("option") },
        fieldset: {
            ...texts("name"),
            ...flags("disabled"),
            elements: found(WITHIN),
            form,
            type: always("fieldset"),
            validity: always(undefined),
        },
        form: forms,
        input,
        keygen: {
            ...field,
            ...texts("challenge name"),
            ...flags("autofocus disabled"),
            keytype: chosen("keytype", "RSA", "DSA EC"),
            type: always("keygen"),
        },
        label: {
            ...texts("htmlFor=for"),
            control: (doc, node) => ({ node: withId(doc, doc.attribute(node, "for")) }),
            form: closestForm,
        },
        legend: { ...texts("accessKey"), form: closestForm },
        meter: { ...wholes("high low max min optimum", 0), labels },
        optgroup: { ...texts("label"), ...flags("disabled") },
        option,
        output: {
            ...field,
            ...texts("htmlFor=for name"),
            defaultValue: output,
            type: always("output"),
            value: output,
        },
        progress: {
            labels,
            max: (doc, node) => positive(doc, node, "max") ?? 1,
            position: shareOf(-1),
            value: shareOf(0),
        },
        select,
        textarea,
    });
    lib.rules.form = form;
}
